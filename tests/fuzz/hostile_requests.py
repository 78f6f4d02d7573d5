"""Hostile transcripts, sent to all that takes one: each answer is checked, and what it took of the CPU."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
import psutil

from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.messages import Message, Text
from foldline.engine.policies.presets import PRESETS
from stack.stack import Stack
from tests.fuzz.documented import ATTACKER, KEYS, FuzzedService, fuzzed_service
from tests.support.hostile import transcript
from tests.support.processes.agent_provider import agent_provider
from tests.support.processes.http import client

# By one request, without the share of the turns of another tenant beside it.
CPU_SECONDS_MAX: Final = 1.0
# A session gets so many transcripts before the next one begins.
TRANSCRIPTS_OF_SESSION: Final = 12
WINDOWS: Final = (4_000, 16_000, 200_000)
GATEWAY_PATHS: Final = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "responses": "/v1/responses"}
# The answer of the scripted provider to everything.
ANSWER: Final = json.dumps(
    {"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "ok"}]}
).encode()


@dataclass
class Findings:
    """What the answers were, by status; `wrong` has a line for each that should not be, by what is wrong."""

    statuses: Counter[int] = field(default_factory=Counter)
    views: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    slow: list[tuple[float, str]] = field(default_factory=list)

    def add(self, kind: str, line: str) -> None:
        """Keep what is wrong, with those of its kind: alike but for numbers."""
        self.wrong.setdefault(re.sub(r"\d+", "#", kind), []).append(line)

    def update(self, other: Findings) -> None:
        """Add what another process found."""
        self.statuses.update(other.statuses)
        self.views += other.views
        self.slow += other.slow
        for kind, lines in other.wrong.items():
            self.wrong.setdefault(kind, []).extend(lines)

    def clear(self) -> None:
        """Forget all of it."""
        self.statuses, self.views, self.wrong, self.slow = Counter(), 0, {}, []


class Processor:
    """What a service takes of the processor, with its process for large requests."""

    def __init__(self, process_id: int) -> None:
        self._service = psutil.Process(process_id)
        self.look_again()

    def seconds(self) -> float:
        """The seconds that its processes have taken."""
        try:
            times = [process.cpu_times() for process in self._processes]
        except psutil.NoSuchProcess:
            # Another one is in the place of one that ended.
            self.look_again()
            return self.seconds()
        return float(sum(each.user + each.system for each in times))

    def look_again(self) -> None:
        """Look which processes it has now, which takes as long as a request."""
        self._processes = [self._service, *self._service.children()]


@dataclass
class Attacker:
    """Sends the transcripts of one seed, one request after the other."""

    caller: httpx.Client
    processor: Processor
    random: Random
    findings: Findings
    # The seconds of CPU that the service has taken for others until now.
    cpu_seconds_of_others: Callable[[], float] = lambda: 0.0
    session: str = ""
    case: str = ""
    # The formats that the session has messages in.
    formats: set[str] = field(default_factory=set)
    # Whether it only makes up what it would send.
    is_silent: bool = False

    def send(self, number: int) -> None:
        """One transcript, to one of those who take one."""
        self.case = f"case {number}"
        if not self.session or number % TRANSCRIPTS_OF_SESSION == 0:
            self._begin(number)
        format_name = self.random.choice(list(FORMATS))
        messages = transcript(self.random, format_name)
        self.formats.add(format_name)
        self.random.choice(WAYS)(self, messages, format_name)

    def request(self, method: str, path: str, body: Any = None, **query: str) -> httpx.Response | None:
        """The answer to a request, counted; None if the connection broke, or nothing was sent."""
        if self.is_silent:
            return None
        raw = None if body is None else written(body)
        before, others = self.processor.seconds(), self.cpu_seconds_of_others()
        try:
            answer = self.caller.request(method, path, content=raw, params=query)
        except httpx.HTTPError as error:
            self.findings.add(type(error).__name__, f"{self.case}: {method} {path}: {error!r}")
            return None
        others = self.cpu_seconds_of_others() - others
        taken = self.processor.seconds() - before - others
        what = f"{self.case}: {method} {answer.request.url.raw_path.decode()} {len(raw or b''):,} bytes"
        self.findings.statuses[answer.status_code] += 1
        if taken > CPU_SECONDS_MAX:
            self.findings.slow.append((taken, f"{what}, without {others:.1f} s for others"))
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            kind = f"{method} {path.removeprefix(self.session)}: {answer.reason_phrase}"
            self.findings.add(kind, f"{what}: {answer.status_code} {answer.text[:200]}")
        return answer

    def views(self) -> None:
        """Read the session's view in each format, and hold it against the rules of the format's provider."""
        for name in FORMATS:
            answer = self.request("GET", f"{self.session}/context", format=name, open="stub")
            if answer is not None and answer.is_success:
                view = answer.json()
                self.check(name, view["messages"], view.get("system"))
                if not view["budget"]["fits"] or view["budget"]["used"] > view["budget"]["limit"]:
                    self.findings.add(f"{name}: does not fit", f"{self.case}: {self.session}")

    def check(self, name: str, messages: list[Any], system: Any) -> None:
        """Hold messages against the rules of a provider."""
        self.findings.views += 1
        # A tool's name stays in its own format: whoever takes it among the tools takes it in a call.
        found = [rule for rule in check(name, messages, system) if name not in self.formats or ".name: " not in rule]
        if found:
            self.findings.add(f"{name}: {found[0]}", f"{self.case}: {self.session}: {found[:2]}")

    def _begin(self, number: int) -> None:
        # One begins when it is first needed.
        self.processor.look_again()
        self.session = f"/sessions/hostile-{number}"
        self.formats = set()
        policy = {"preset": self.random.choice(list(PRESETS))}
        window = self.random.choice(WINDOWS)
        body = {"id": f"hostile-{number}", "model": "openai/gpt-4o", "context_window": window, "policy": policy}
        self.request("POST", "/sessions", body)


Way = Callable[[Attacker, list[Any], str], None]


def _append(attacker: Attacker, messages: list[Any], format_name: str) -> None:
    attacker.request("POST", f"{attacker.session}/messages", {"messages": messages, "format": format_name})
    attacker.views()


def _append_unnamed(attacker: Attacker, messages: list[Any], _format_name: str) -> None:
    attacker.request("POST", f"{attacker.session}/messages", {"messages": messages})
    attacker.request("POST", f"{attacker.session}/compact", {"target_tokens": attacker.random.choice((1, 500, 3000))})
    attacker.views()


def _compact(attacker: Attacker, messages: list[Any], format_name: str) -> None:
    # Calls that wait for their results stay so; this ends them.
    ended = [*messages, *FORMATS[format_name].render([Message("user", (Text("Go on."),))], None).messages]
    body = {"messages": ended, "format": format_name, "context_window": attacker.random.choice(WINDOWS)}
    asked = {"summarize": attacker.random.choice((True, False)), "model": "openai/gpt-4o"}
    answer = attacker.request("POST", "/compact", body | asked)
    if answer is not None and answer.is_success:
        attacker.check(format_name, answer.json()["messages"], None)


def _budget(attacker: Attacker, messages: list[Any], format_name: str) -> None:
    attacker.request("POST", "/budget", {"messages": messages, "format": format_name, "context_window": 8000})


def _gateway(attacker: Attacker, messages: list[Any], format_name: str) -> None:
    path = GATEWAY_PATHS.get(format_name, "/v1/messages")
    name = "input" if format_name == "responses" else "messages"
    stream = attacker.random.choice((True, False))
    attacker.request("POST", path, {"model": "scripted", name: messages, "max_tokens": 100, "stream": stream})


def _move(attacker: Attacker, messages: list[Any], _format_name: str) -> None:
    """What moves the head or edits the view, with pieces of the transcript where a text may be."""
    text = written(messages[:1])[:2000].decode()
    for path, body in (
        ("branch", {"entry_id": f"e0-{attacker.random.randint(1, 9)}", "summarize": True}),
        ("redo", {}),
        ("overflow", {"error": f"prompt is too long: 9000 tokens > 4000 maximum {text}", "version": 3}),
        ("pins", {"text": text}),
        ("budget", {"prompt": text, "tools": [{"name": text}], "files": [{"path": text, "content": text}]}),
    ):
        attacker.request("POST", f"{attacker.session}/{path}", body)
    attacker.request("GET", f"{attacker.session}/recall", q=text[:400] or "x")
    attacker.views()


WAYS: Final[tuple[Way, ...]] = (_append, _append, _append_unnamed, _compact, _budget, _gateway, _move)


def written(value: Any) -> bytes:
    """The value as JSON, however deep it is."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1 << 16)
    try:
        return json.dumps(value).encode()
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def hostile_service(folder: Path, database: str) -> Iterator[FuzzedService]:
    """A service with keys on this kind of database, whose gateway gets the same answer to everything."""
    with agent_provider() as provider:
        provider.failure = (200, ANSWER)
        upstreams = {"FOLDLINE_ANTHROPIC_BASE_URL": provider.url, "FOLDLINE_OPENAI_BASE_URL": f"{provider.url}/v1"}
        variables = {"FOLDLINE_GATEWAY_CONTEXT_WINDOW": "8000", **upstreams}
        with DATABASES[database](folder, variables) as service:
            with client(service.url) as caller:
                # Its process for large requests starts with this one, and loads the tokenizer's vocabulary.
                said = [{"role": "user", "content": "Good morning."}]
                caller.post("/budget", json={"messages": said, "context_window": 8000}, headers=service.headers)
            yield service


def _on_sqlite(folder: Path, variables: Mapping[str, str]) -> AbstractContextManager[FuzzedService]:
    """One process, which works on the jobs too: what they take of the CPU counts as the requests' beside them."""
    return fuzzed_service(folder, has_keys=True, **variables)


@contextmanager
def _on_postgresql(folder: Path, variables: Mapping[str, str]) -> Iterator[FuzzedService]:
    """A process for the API alone, and a worker."""
    environment = {"FOLDLINE_API_KEYS": KEYS, **variables}
    with Stack(workers=1, environment=environment, logs=folder, is_durable=True, without=("flower",)) as stack:
        yield FuzzedService(stack.api_url, stack["api-1"].pid, ATTACKER)


DATABASES: Final = {"postgresql": _on_postgresql, "sqlite": _on_sqlite}


def run_hostile(
    service: FuzzedService,
    transcripts: range,
    seed: int,
    findings: Findings,
    on_sent: Callable[[], object] = lambda: None,
    *,
    cpu_seconds_of_others: Callable[[], float] = lambda: 0.0,
) -> None:
    """Send these of the seed's transcripts, and add to the findings, which stay if it breaks off."""
    with client(service.url, timeout_seconds=120) as caller:
        caller.headers.update(service.headers)
        attacker = Attacker(caller, Processor(service.process_id), Random(seed), findings, cpu_seconds_of_others)
        for number in range(transcripts.stop):
            attacker.is_silent = number < transcripts.start
            attacker.send(number)
            on_sent()
