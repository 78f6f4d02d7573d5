"""Sessions as the agents of the four systems drive them: turns, tool calls, files, and what the service says then."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event
from time import monotonic
from typing import Any, Final

import pytest

from foldline.engine.formats import rules
from tests.support.processes.api import Api, Json, assistant, user
from tests.support.processes.http import items_of
from tests.support.processes.scripted_llm import Limits, Reply, ScriptedLLM

# The summarizers of the service, by name: a policy chooses one.
WORKS: Final = "works"
NARROW: Final = "narrow"
AWAY: Final = "away"
# Its answers are those that a test has scripted, and only that test calls it meanwhile.
MOODY: Final = "moody"
# The model of `narrow` refuses what is longer, and nothing says so before.
NARROW_WINDOW: Final = 2_500
# Nothing listens on this port of loopback.
NOWHERE: Final = "http://127.0.0.1:9/v1"
# A line of the working model's summaries; it is about what the files of `lines` say.
STORY: Final = "The quick brown fox jumps over the lazy dog in all of the files."
WINDOWS: Final = (
    8_000,
    pytest.param(32_000, marks=pytest.mark.thorough),
    pytest.param(128_000, marks=pytest.mark.thorough),
    pytest.param(1_000_000, marks=pytest.mark.thorough),
)
# A call of a model that is away takes seconds, as it is tried again.
WITHOUT_MODEL: Final = (
    8_000,
    *(pytest.param(window, marks=pytest.mark.thorough) for window in (32_000, 128_000, 1_000_000)),
)
# A window and a model that works.
WORKING: Final = (
    pytest.param(8_000, WORKS),
    pytest.param(32_000, WORKS, marks=pytest.mark.thorough),
    pytest.param(128_000, WORKS, marks=pytest.mark.thorough),
    pytest.param(1_000_000, WORKS, marks=pytest.mark.thorough),
)
# A window and a model that refuses long prompts, or is away.
FAILING: Final = (
    pytest.param(8_000, NARROW),
    *(pytest.param(window, NARROW, marks=pytest.mark.thorough) for window in (32_000, 128_000, 1_000_000)),
    *(pytest.param(window, AWAY, marks=pytest.mark.thorough) for window in (8_000, 32_000, 128_000, 1_000_000)),
)
PATIENCE_SECONDS: Final = 120.0
# What the service waits for at most in one request.
WAIT_SECONDS: Final = 60
LOOK_SECONDS: Final = 0.05
ENDED: Final = frozenset({"succeeded", "failed", "superseded", "cancelled"})
CHINESE: Final = "请把解析器改名为读取器。保留旧的名字。"
LINE: Final = "{}: the quick brown fox jumps over the lazy dog\n"
LINE_TOKENS: Final = 13
CLEARED: Final = re.compile("cleared|read again|left out")
# What a hook answers, by the first word of a request's instructions.
DEEDS: Final[dict[str, Json]] = {
    "cancel": {"cancel": "not now"},
    "supply": {"summary": "# Decided\n- By hand.", "details": {"ticket": 7}},
    "advise": {"instructions": "Keep every figure."},
}
HANG_SECONDS: Final = 9.0
_NUMBERS = count()


class Extension:
    """A hook that keeps what it gets; the first word of a request's instructions says what it does."""

    def __init__(self) -> None:
        self.may_go_on = Event()
        self.preparations: dict[str, Any] = {}
        self.outcomes: list[Any] = []

    def before_compact(self, preparation: Any) -> Json | None:
        self.preparations[preparation.job_id] = preparation
        deed = (preparation.request.instructions or "").partition(" ")[0]
        if deed == "hang":
            self.may_go_on.wait(HANG_SECONDS)
        return DEEDS.get(deed)

    before_branch = before_compact

    def after_compact(self, outcome: Any) -> None:
        self.outcomes.append(outcome)

    after_branch = after_compact


@dataclass
class Service(Api):
    """The service, its models and its hook."""

    url: str
    works: ScriptedLLM
    narrow: ScriptedLLM
    moody: ScriptedLLM
    extension: Extension
    paths: list[str] = field(default_factory=list)

    def start(self, preset: str, window: int | None = None, *, summarizer: str = WORKS, **fields: Any) -> Driven:
        """A new session under a preset; `policy` has what else it sets."""
        policy = {"preset": preset, "summarizer": summarizer, **fields.pop("policy", {})}
        asked = {"model": "nobody/nothing", "system": "You are a coding agent.", "policy": policy, **fields}
        if window is not None:
            asked["context_window"] = window
        self.paths.append(f"/sessions/{self.post('/sessions', asked, 201)['id']}")
        return Driven(self, self.paths[-1], window or 0)

    def end_sessions(self) -> None:
        """Delete the sessions that were started, so that none of them calls a model in a later test."""
        for path in self.paths:
            assert self.client.delete(path).status_code in {204, 404}
        self.paths.clear()

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """A block in which the moody model refuses each call for good."""
        usual, self.moody.default = self.moody.default, Reply(text="no such key", status=401)
        try:
            yield
        finally:
            self.moody.default = usual

    @contextmanager
    def refusing_over(self, tokens: int) -> Iterator[None]:
        """A block in which the moody model refuses longer prompts, without saying why."""
        self.moody.limits = Limits(prompt=tokens)
        try:
            yield
        finally:
            self.moody.limits = Limits()

    def prompts(self, said: str, model: ScriptedLLM | None = None) -> list[str]:
        """The prompts with these words that the working model got, or another one."""
        return [request.prompt for request in (*(model or self.works).requests,) if said in request.prompt]


@dataclass
class Driven:
    """A session, and a number that its texts have, so that its prompts are found."""

    service: Service
    path: str
    window: int
    mark: str = field(default_factory=lambda: f"ticket-{next(_NUMBERS):04}")
    steps: list[Json] = field(default_factory=list)
    _calls: Iterator[int] = field(default_factory=lambda: count(1))

    def say(self, *messages: Json, **fields: Any) -> Json:
        """The answer to an append."""
        answer = self.service.say(self.path, *messages, **fields)
        if answer["compaction"]:
            self.steps.append(answer["compaction"])
        return answer

    def get(self, what: str = "") -> Any:
        return self.service.get(f"{self.path}{what}")

    def post(self, what: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return self.service.post(f"{self.path}{what}", body, status, **headers)

    def items(self, what: str) -> list[Json]:
        return items_of(self.service.client, f"{self.path}/{what}")

    @property
    def view(self) -> list[Json]:
        """The messages of the view, which obeys the rules of its format and fits."""
        view = self.get("/context?format=openai")
        assert view["budget"]["fits"]
        assert rules.check("openai", view["messages"], None) == []
        messages: list[Json] = view["messages"]
        has_system = view["system"] is not None
        assert [message["role"] for message in messages].count("system") == has_system
        assert not has_system or text_of(messages[0]) == view["system"]
        return messages[has_system:]

    @property
    def texts(self) -> list[str]:
        """What each message of the view says."""
        return list(map(text_of, self.view))

    @property
    def stats(self) -> Json:
        answer: Json = self.get("/stats")
        return answer

    def compact(self, *, ended: str | None = "succeeded", **body: Any) -> Json:
        """The answer to a requested compaction, when its job has ended."""
        response = self.service.client.post(
            f"{self.path}/compact", json=body, headers={"Prefer": f"wait={WAIT_SECONDS}"}
        )
        assert response.status_code == 200, response.text[:500]
        answer: Json = response.json()
        if answer["job"] is not None and ended is not None:
            assert answer["job"]["state"] == ended, answer["job"]
        return answer

    def rest(self) -> list[Json]:
        """All jobs, when each has ended."""
        deadline, pause = monotonic() + PATIENCE_SECONDS, Event()
        jobs = self.items("jobs")
        while {job["state"] for job in jobs} - ENDED:
            assert monotonic() < deadline, jobs
            # Each look is a request, which the work would wait for.
            pause.wait(LOOK_SECONDS)
            jobs = self.items("jobs")
        return jobs

    def summary(self) -> str:
        """The text of the latest summary's message in view."""
        (first, *_) = [text for text in self.texts if text.startswith("[Summary of")]
        return first

    def call_id(self) -> str:
        return f"call_{next(self._calls)}"

    def using(self, tool: str, output: str, *, said: str = "Look.", **arguments: Any) -> list[Json]:
        """A turn with one call of a tool."""
        call_id = self.call_id()
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return [
            user(f"{self.mark} {said}"),
            {
                "role": "assistant",
                "content": "I will.",
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": call_id, "content": output},
            assistant(f"Done with {call_id}."),
        ]

    def reading(self, path: str, tokens: int, version: int = 1) -> list[Json]:
        """A turn in which a file of so many tokens is read."""
        return self.using("read_file", f"version {version}\n{lines(tokens)}", said=f"Read {path}.", path=path)

    def work(self, turns: int, share: float = 0.05, *, names: Sequence[str] = (), must_fit: bool = True) -> list[Json]:
        """The answers to turns that each read a file of this share of the window, or chat in Chinese now and then."""
        answers = []
        for number in range(turns):
            path = names[number % len(names)] if names else f"src/part_{number}.py"
            messages = self.reading(path, int(self.window * share), number)
            if number % 3 == 2:
                messages += [user(f"{self.mark} {CHINESE}"), assistant("好的。" + CHINESE * 3)]
            answers.append(self.say(*messages))
            assert answers[-1]["budget"]["fits"] or not must_fit
        return answers


def goes_on(session: Driven, turns: int, summarizer: str) -> None:
    """Work in a session whose summarizer refuses long prompts, or is away, and check that it goes on."""
    session.work(turns)
    assert session.steps
    states = {job["state"] for job in session.rest()}
    assert states == {"failed"} if summarizer == AWAY else "succeeded" in states
    assert session.view[-1]["role"] == "assistant"


def lines(tokens: int) -> str:
    """Numbered lines that take about so many tokens."""
    return "".join(LINE.format(number) for number in range(max(tokens // LINE_TOKENS, 1)))


def text_of(message: Json) -> str:
    """All texts of a message."""
    content = message["content"]
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text", "") for part in content)


def results_of(messages: Sequence[Json]) -> list[str]:
    """The texts of the tool results, in order."""
    return [text_of(message) for message in messages if message["role"] == "tool"]


def is_cleared(text: str) -> bool:
    """Whether a short placeholder is in the place of an output."""
    return len(text) < 400 and CLEARED.search(text) is not None
