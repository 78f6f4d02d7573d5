"""Generated conversations of canonical messages, and a small driver that runs the engine on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hypothesis import strategies as st

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import Facts, facts_of
from foldline.engine.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from foldline.engine.models.budget import Goals, goals_of
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit, outline_of
from foldline.engine.planning.batches import Tail, place
from foldline.engine.planning.cut_points import InputLimits, SummaryRange, next_range
from foldline.engine.planning.pipeline import Planned, plan_for
from foldline.engine.planning.recent import due_items
from foldline.engine.policies.policy import Policy, stage_of
from foldline.engine.tokens.counter import count_messages, count_text
from foldline.engine.tokens.estimates import EXACT
from foldline.engine.tokens.measures import exact_measure, measure_of
from foldline.engine.view import make_view
from foldline.engine.wording import summary_tokens

# Words that a careless cut, count or escape would break, beside ordinary ones.
WORDS = (
    "fold the line ",
    "def parse(row): return row\n",
    "\r\n",
    " " * 40,
    '{"level": "info"}\n',
    "👩‍👩‍👧‍👦",
    "日本語の文章。",
    "e\u0301\u0323",
    "\ud83d",
    "<|endoftext|>",
)
FILES = ("src/app.py", "README.md")
READS = (
    {"path": FILES[0]},
    {"path": FILES[0], "start_line": 1, "end_line": 10},
    {"path": FILES[0], "start_line": 5, "end_line": 8},
    {"path": FILES[1], "offset": 3, "limit": 4},
    {"path": FILES[1]},
)


def user(text: str) -> Message:
    return Message("user", (Text(text),), "native")


def assistant(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", (*((Text(text),) if text else ()), *calls), "native")


def answer(call_id: str, text: str, *, is_error: bool = False) -> Message:
    return Message("tool", (ToolResult(call_id, (Text(text),), is_error=is_error),), "native")


def read_call(call_id: str, path: str = FILES[0], **lines: int) -> ToolCall:
    return ToolCall(call_id, "read_file", json.dumps({"path": path, **lines}))


@st.composite
def texts(draw: st.DrawFn, longest: int = 6_000) -> str:
    """Text of up to about `longest` characters, cheap to draw and to shrink."""
    word = draw(st.sampled_from(WORDS))
    length = draw(st.one_of(st.integers(0, 60), st.integers(0, longest)))
    return draw(st.sampled_from(("", "x", "no such file ", "\n"))) + word * (length // len(word))


@st.composite
def calls(draw: st.DrawFn, call_id: str) -> ToolCall:
    """A read, an edit with long arguments, or a call whose arguments are no JSON object."""
    kind = draw(st.sampled_from(("read", "read", "write", "odd")))
    if kind == "read":
        return ToolCall(call_id, "read_file", json.dumps(draw(st.sampled_from(READS))))
    if kind == "odd":
        return ToolCall(call_id, "run", draw(st.sampled_from(("", "ls -la", "[1, 2]", '"text"', "{", "{ }"))))
    value = {"path": FILES[0], "content": draw(texts(2_000)), "more": [1.5, {"note": draw(texts(500))}]}
    return ToolCall(call_id, "write_file", json.dumps(value, indent=draw(st.sampled_from((None, 2)))))


@st.composite
def results(draw: st.DrawFn, call_id: str) -> Message:
    """A result of text, sometimes failed or with an image."""
    parts: tuple[Text | Image, ...] = (Text(draw(texts())),)
    match draw(st.integers(0, 9)):
        case 0:
            parts = ()
        case 1:
            parts = (*parts, Image("image/png", "aGk="))
        case 2:
            parts = (*parts, Text(draw(texts(400))))
    return Message("tool", (ToolResult(call_id, parts, is_error=draw(st.integers(0, 5)) == 0),), "native")


@st.composite
def batches(draw: st.DrawFn) -> list[Message]:
    """An assistant message with calls, and results: out of order, missing, repeated, or of no call."""
    ids = draw(st.lists(st.sampled_from(("a", "b", "c", "d")), min_size=1, max_size=3))
    head = assistant(draw(texts(300)), *(draw(calls(call_id)) for call_id in ids))
    answered = draw(st.permutations([*ids, *draw(st.lists(st.sampled_from(("a", "z")), max_size=1))]))
    answered = answered[: draw(st.sampled_from((len(answered), len(ids), len(answered) - 1)))]
    return [head, *(draw(results(call_id)) for call_id in answered)]


@st.composite
def single_messages(draw: st.DrawFn) -> list[Message]:
    """One message outside any batch, mostly of the user or the assistant."""
    match draw(st.integers(0, 9)):
        case 0:
            return [Message("developer", (Text(draw(texts(400))),), "native")]
        case 1:
            return [assistant("")]
        case 2:
            return [Message("assistant", (Thinking(draw(texts(400)), "sig"),), "native")]
        case 3:
            return [draw(results("z"))]
        case 4 | 5:
            return [assistant(draw(texts()))]
    return [user(draw(texts(draw(st.sampled_from((100, 2_000))))))]


def steps() -> st.SearchStrategy[list[Message]]:
    """The messages of one append: a batch or a single message."""
    return st.one_of(batches(), single_messages())


def transcripts(max_steps: int = 14) -> st.SearchStrategy[list[Message]]:
    """The messages of a session, open calls at the end included."""
    return st.lists(steps(), min_size=1, max_size=max_steps).map(lambda parts: [m for part in parts for m in part])


SLIDING = {"name": "truncate", "keep_first": 2, "fraction": 0.5}
# Every stage, with parameters of every kind, in combinations that no preset has.
OTHER_STAGES = (
    [
        "deduplicate",
        {"name": "prune", "keep_recent_tokens": 0, "stops_at_target": False, "protect_tokens": 300},
        "truncate",
    ],
    [{"name": "prune", "minimum_saving_tokens": 500, "protected_tools": ["bash"]}, "deduplicate", "summarize"],
    [{"name": "microcompact", "keep_results": 2, "tools": ["read_file"]}, "deduplicate", "prune", "truncate"],
    [{"name": "microcompact", "keep_turns": 1}, "summarize", "truncate"],
    ["deduplicate", {"name": "strip", "longer_than_chars": 20, "keep_messages": 2}, "summarize", "truncate"],
    ["truncate", "strip", "microcompact"],
    ["collapse", {"name": "summarize", "keep_messages": 2, "keep_share": 0.2, "at_least_messages": 3}],
    [{"name": "summarize", "keep_texts": 2, "keep_tokens": 100, "keep_tokens_most": 400}, "collapse", "truncate"],
    [{"name": "deduplicate", "minimum_saving_share": 0.3, "stops_at_target": True}, "summarize", SLIDING],
    [SLIDING, "collapse"],
)


def policies(presets: Iterable[Policy]) -> st.SearchStrategy[Policy]:
    """Every preset: unchanged, with other shares, or with other stages."""
    shares: st.SearchStrategy[dict[str, float]] = st.sampled_from(
        (
            {},
            {"trigger": 0.9, "target": 0.85},
            {"keep_recent": 0.01, "minimum_saving": 0.001},
            {"target": 0.1, "keep_recent": 1.0},
        )
    )
    stages = [tuple(stage_of(stage, "stages") for stage in others) for others in OTHER_STAGES]
    chosen = [policy for preset in presets for policy in (preset, *(replace(preset, stages=own) for own in stages))]
    return st.builds(lambda policy, changes: replace(policy, **changes), st.sampled_from(chosen), shares)


class Aims(NamedTuple):
    """A policy with its exact goals, and its gauge of a conversation."""

    policy: Policy
    goals: Goals
    gauge: Gauge


def exact_aims(policy: Policy, goals: Goals) -> Aims:
    """The aims of a policy with the exact counter."""
    return Aims(policy, goals, Gauge(exact_measure(), goals))


@dataclass
class Conversation:
    """A session without storage: messages with their facts, live edits and summaries."""

    messages: dict[int, Message] = field(default_factory=dict)
    facts: list[Facts] = field(default_factory=list)
    tail: Tail = field(default_factory=Tail)
    live: LiveEdits = field(default_factory=LiveEdits)
    summaries: dict[str, str] = field(default_factory=dict)
    added_tokens: int = 0

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Conversation:
        conversation = cls()
        conversation.extend(messages)
        return conversation

    def extend(self, messages: Iterable[Message]) -> None:
        for message in messages:
            seq = len(self.facts) + 1
            placed = place(facts_of(message), seq, self.tail)
            self.messages[seq] = message
            self.facts.append(placed.facts)
            self.tail = placed.tail
            self.added_tokens += placed.added_tokens

    @property
    def outline(self) -> Outline:
        return outline_of(self.facts, self.live)

    def view(self, *, stub_open: bool = False) -> list[Message]:
        return make_view(self.outline, self.messages, self.summaries, stub_open=stub_open)

    @property
    def view_tokens(self) -> int:
        return count_messages(self.view())

    def plan(self, aims: Aims, *, is_asked: bool = False, has_target: bool = False) -> Planned:
        policy, goals, gauge = aims
        return plan_for(self.outline, policy.stages, goals, gauge, is_asked=is_asked, has_target=has_target)

    def next_range(self, aims: Aims, window_tokens: int, *, is_asked: bool) -> SummaryRange | None:
        policy, goals, gauge = aims
        due = due_items(self.outline, policy, gauge, is_asked=is_asked)
        return next_range(self.outline, goals, InputLimits(window_tokens, window_tokens), due, is_asked=is_asked)

    def apply(self, edits: Iterable[Edit]) -> None:
        self.live = self.live.adding(edits)

    def condense(self, span: SummaryRange, text: str) -> None:
        """Publish a summary of the range; `text` is cut to its maximum."""
        while count_text(text) > span.max_tokens:
            text = text[: len(text) // 2]
        summary = f"s{len(self.summaries) + 1}"
        self.summaries[summary] = text
        self.apply(
            [
                Edit(
                    "condense",
                    span.first,
                    span.last,
                    summary=summary,
                    tokens=summary_tokens(text),
                    original_tokens=span.original_tokens,
                    replaces=span.replaces,
                )
            ]
        )

    def condense_all(self, aims: Aims, window_tokens: int, *, is_asked: bool, text: str = "They talked.") -> int:
        """Publish summaries until nothing is left to summarize. Returns their number."""
        published = 0
        while (span := self.next_range(aims, window_tokens, is_asked=is_asked)) is not None:
            self.condense(span, text)
            published += 1
            assert published <= len(self.facts) + 1, "summaries never end"
        return published


@dataclass(frozen=True)
class Case:
    """A conversation with a policy; it may or may not be over the policy's goals."""

    conversation: Conversation
    aims: Aims
    is_asked: bool
    has_target: bool

    @property
    def policy(self) -> Policy:
        return self.aims.policy

    @property
    def goals(self) -> Goals:
        return self.aims.goals

    def plan(self) -> Planned:
        return self.conversation.plan(self.aims, is_asked=self.is_asked, has_target=self.has_target)


@st.composite
def cases(draw: st.DrawFn, presets: Iterable[Policy], max_steps: int = 14) -> Case:
    """A session after some compactions, with goals near its size."""
    policy = draw(policies(presets))
    conversation = Conversation.of(draw(transcripts(max_steps)))
    for more in draw(st.lists(transcripts(5), max_size=2)):
        aims = draw(aims_near(policy, conversation.outline.tokens))
        is_asked = draw(st.booleans())
        conversation.apply(conversation.plan(aims, is_asked=is_asked).edits)
        span = conversation.next_range(aims, draw(st.sampled_from((200, 5_000))), is_asked=is_asked)
        if span is not None and draw(st.booleans()):
            conversation.condense(span, draw(texts(800)))
        conversation.extend(more)
    aims = draw(aims_near(policy, conversation.outline.tokens))
    is_asked = draw(st.booleans())
    return Case(conversation, aims, is_asked, has_target=is_asked and draw(st.booleans()))


@st.composite
def aims_near(draw: st.DrawFn, policy: Policy, tokens: int) -> Aims:
    """The aims for a budget between far too small and more than enough for `tokens`."""
    limit = max(1, int(tokens * draw(st.sampled_from((0.05, 0.2, 0.5, 0.8, 1.0, 1.3, 2.5)))))
    fixed = draw(st.sampled_from((0, limit // 10)))
    goals = goals_of(policy, limit, fixed, draw(st.sampled_from((1000, 1237, 2000))))
    if policy.counter == EXACT:
        return exact_aims(policy, goals)
    # An estimate and its room may be far above or below the exact ones.
    room = int(limit * draw(st.sampled_from((0.4, 1.0, 2.0))))
    measure = measure_of(policy.counter, draw(st.sampled_from(("openai", "mistral"))))
    return Aims(policy, goals, Gauge(measure, goals_of(policy, room, fixed, 1000, safety=1.1)))


def units(outline: Outline, claim: Callable[[Unit], bool] = lambda _: True) -> list[Unit]:
    """The units of an outline for which the claim holds."""
    return [item for item in outline.items if isinstance(item, Unit) and claim(item)]
