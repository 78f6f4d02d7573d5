"""Counts the messages out of view, and compares them with those that the preset's own program would have hidden.

The program is a model: the policy's own stages by the policy's own count, with a summary written at once. It shares no
plan with the service.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeAlias

from foldline.engine import wording
from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import Facts, facts_of
from foldline.engine.formats import FORMATS
from foldline.engine.formats.marks import IMAGES_ABOVE
from foldline.engine.messages import Message, Text
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Fixed, Frame, Gauge
from foldline.engine.outline import Item, Outline, Unit, outline_of
from foldline.engine.planning.batches import Tail, place
from foldline.engine.planning.cut_points import LEAST_LENGTH, LENGTH_SHARE
from foldline.engine.planning.limited_outputs import limiting
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.prefix_price import shown as shown_tokens
from foldline.engine.planning.recent import older_items
from foldline.engine.planning.stages import STAGES
from foldline.engine.policies.policy import Policy, Stage
from foldline.engine.tokens.measures import exact_measure
from foldline.engine.wire import dumps
from foldline.replay.pace import NOT_CALIBRATED
from foldline.replay.steps import fixed_tokens
from foldline.replay.transcripts import Transcript

JsonDict = dict[str, Any]
# The format of the views that are compared: its views have one message for each message that was sent.
COMPARED: Final = "openai"
# What a message is recognized by in a view, where its content may have been cleared or cut.
Key: TypeAlias = tuple[str, ...]
# Ranges of seqs, oldest first.
Spans: TypeAlias = list[tuple[int, int]]
LATE_BEGIN: Final = wording.LATE.partition("{")[0]
LATE: Final[Key] = ("late",)


class Beyond(NamedTuple):
    """A view with more messages out of view than the program's.

    `program` would have hidden so many by then, or `due` if it compacted when we did. `tokens`: what the view would
    take if it had all the messages that are neither, as the program shows them.
    """

    ours: int
    program: int
    due: int
    tokens: int
    limit: int

    def __str__(self) -> str:
        """Both counts, and what the view would take with what the program keeps."""
        return (
            f"{self.ours} messages are out of view, the preset's own program would have hidden {self.program}, "
            f"or {self.due} now; with the others the view takes {self.tokens} of {self.limit} tokens"
        )

    @property
    def is_demanded(self) -> bool:
        """Whether the view would not fit its budget with those messages."""
        return self.tokens > self.limit

    @property
    def is_wrong(self) -> bool:
        """Whether the program would have kept some of the messages that are out of view, and they would fit.

        Summaries are not published when the program writes its own, so they may cover what is due now.
        """
        return self.ours > self.due and not self.is_demanded


@dataclass(slots=True)
class PresetProgram:
    """What a policy's own program would show of the messages so far, if it compacted before each call of the model.

    Its stages run in their order by its own estimate, each until its target is reached. Its summary is there at once,
    and as long as the policy allows for the messages that it covers. It also compacts where what it shows does
    not fit by the `exact` goals, as a provider would refuse that; its own are then no higher.
    """

    policy: Policy
    gauge: Gauge
    exact: Goals
    live: LiveEdits = field(default_factory=LiveEdits)
    # Of all messages, counted exactly; and of those under no summary, in the policy's own measure.
    entries: list[Facts] = field(default_factory=list)
    _seen: list[Facts] = field(default_factory=list)
    _tail: Tail = field(default_factory=Tail)
    # Of what it shows, by its estimate and exactly.
    tokens: int = 0
    exact_tokens: int = 0
    compactions: int = 0

    def add(self, message: Message) -> Facts:
        """Append a message: its facts at its place."""
        placed = place(facts_of(message), len(self.entries) + 1, self._tail)
        self._tail = placed.tail
        seen, measure, exact = self.gauge.measure.counted(placed.facts), self.gauge.measure, exact_measure()
        self.entries.append(placed.facts)
        self._seen.append(seen)
        limited = limiting(self.policy, message, placed.facts)
        if limited is not None:
            self.live = self.live.adding([limited])
        self.tokens += measure.shown(seen, limited) + measure.stub * placed.stubs
        self.exact_tokens += exact.shown(placed.facts, limited) + exact.stub * placed.stubs
        return placed.facts

    def compact(self) -> None:
        """Compact if the history is over the trigger, or does not fit."""
        goals = self.gauge.goals
        if self.exact_tokens > self.exact.limit:
            goals = _lowered(goals, self.exact, self.tokens / self.exact_tokens)
        if self.tokens <= min(goals.trigger, goals.limit):
            return
        outline, before = outline_of(self._seen, self.live, self.gauge.measure), self.tokens
        for stage in self.policy.stages:
            apply = _summarized if stage.name == "summarize" else _after
            outline = apply(outline, stage, goals)
        self.live, self.tokens = outline.live, outline.tokens
        self._seen = [entry for item in outline.items if isinstance(item, Unit) for entry in item.entries]
        self.compactions += self.tokens < before
        self.exact_tokens = outline_of((self.entries[entry.seq - 1] for entry in self._seen), self.live).tokens

    @property
    def is_near(self) -> bool:
        """Whether a compaction may be due, by its count or exactly. Below that, nobody asks what would be."""
        counts = ((self.tokens, self.gauge.goals), (self.exact_tokens, self.exact))
        return any(tokens > min(goals.trigger, goals.target) for tokens, goals in counts)

    @property
    def hidden(self) -> Spans:
        """The ranges of seqs that are summarized or dropped, oldest first; none overlaps another."""
        return _apart([*self.live.hidden, *((edit.first, edit.last) for edit in self.live.condensed)])

    @property
    def due(self) -> Spans:
        """The same ranges if it compacted now, whatever its trigger, and had dropped no recent messages."""
        outline, goals = outline_of(self._seen, replace(self.live, hidden=()), self.gauge.measure), self.gauge.goals
        for stage in takewhile(lambda stage: stage.name != "summarize", self.policy.stages):
            outline = _after(outline, stage, goals)
        older = _older(outline, self.policy.stage("summarize"), goals)
        return _apart([*self.hidden, (older[0].first, older[-1].last)]) if older else self.hidden


def _apart(spans: Iterable[tuple[int, int]]) -> Spans:
    apart: Spans = []
    for first, last in sorted(spans):
        start = max(first, apart[-1][1] + 1) if apart else first
        if start <= last:
            apart.append((start, last))
    return apart


def _lowered(goals: Goals, exact: Goals, share: float) -> Goals:
    """The goals, no higher than exact ones in an estimate that counts this share of the exact tokens."""
    limit, target = int(exact.limit * share), int(exact.target * share)
    return replace(
        goals, limit=min(goals.limit, limit), trigger=min(goals.trigger, limit), target=min(goals.target, target)
    )


def _after(outline: Outline, stage: Stage, goals: Goals) -> Outline:
    own = Parameters(goals, is_asked=False, has_target=False, own=stage)
    plan = STAGES[stage.name](outline, Plan(outline.tokens), own)
    return outline.edited(plan.edits) if plan.tokens < outline.tokens else outline


def _summarized(outline: Outline, stage: Stage, goals: Goals) -> Outline:
    if outline.tokens <= goals.target:
        return outline
    older = _older(outline, stage, goals)
    if not any(isinstance(item, Unit) for item in older):
        return outline
    originals, shown = sum(item.original_tokens for item in older), sum(map(shown_tokens, older))
    length = min(goals.summary_max, max(LEAST_LENGTH, int(originals * LENGTH_SHARE)))
    # The program writes it whatever there is to gain; it is shorter than what it covers.
    tokens = min(length + wording.summary_frame_tokens(), shown - 1)
    ends = older[0].first, older[-1].last
    after = outline.edited([Edit("condense", *ends, summary="own", tokens=tokens, original_tokens=originals)])
    return after if after.tokens < outline.tokens else outline


def _older(outline: Outline, stage: Stage, goals: Goals) -> list[Item]:
    """The items that are older than the recent ones."""
    due = older_items(outline, stage, goals.not_summarized, goals.recent_room)
    return outline.items[: min(due, outline.closed)]


@dataclass(slots=True)
class OutOfViewWatch:
    """Counts the messages out of view in each view, ours and the program's, and sums them up over all views.

    A message is out of view if the view has neither the message nor the message with its content cleared or cut: a
    summary, an interim summary or a marker stands for it. Messages that no view shows, as they are empty, do not count.
    """

    program: PresetProgram
    has_system: bool = False
    views: int = 0
    ours: int = 0
    by_program: int = 0
    beyond: int = 0
    by_budget: int = 0
    _last_ours: int = 0
    _is_other_time: bool = False
    _compactions_then: int = 0
    # The most that was due after an append since we hid more, the same when we did, and how much had to go then.
    _due_since: Spans = field(default_factory=list)
    _due_then: Spans = field(default_factory=list)
    _demanded: int = 0
    _keys: list[Key] = field(default_factory=list)
    # For each seq, the messages up to it that count.
    _counted: list[int] = field(default_factory=lambda: [0])

    def appended(self, messages: Iterable[Message]) -> None:
        """Note messages that were sent."""
        for message in messages:
            entry = self.program.add(message)
            is_quoted = entry.is_late and entry.answers is not None
            self._keys.append(LATE if is_quoted else _key_of(message))
            self._counted.append(self._counted[-1] + bool(entry.tokens))
        # A job's range is decided when it begins. Results that are whole then may be cleared later: then less is due.
        if self.program.is_near:
            self._due_since = max(self._due_since, self.program.due, key=self._messages_in)

    def saw(self, view: JsonDict) -> Beyond | None:
        """Count a view before a call of the model; the comparison if it has more out of view than the program's."""
        self.program.compact()
        shown = list(_originals(view["messages"], has_system=self.has_system))
        ours = self._counted[-1] - len(shown)
        by_program = self._messages_in(self.program.hidden)
        self.views += 1
        self.ours += ours
        self.by_program += by_program
        if ours > self._last_ours:
            self._note_time(by_program, ours)
        self._last_ours = ours
        if ours <= by_program:
            return None
        dues = (self.program.due, self._due_then) if self._is_other_time else (self.program.hidden,)
        budget, due = view["budget"], max(dues, key=self._messages_in)
        tokens = budget["used"] + self._tokens_beyond(shown, due)
        found = Beyond(ours, by_program, max(self._messages_in(due), self._demanded), tokens, budget["limit"])
        self.beyond += 1
        self.by_budget += found.is_demanded
        if found.is_demanded:
            # What had to go once stays out of view when there is room again.
            self._demanded = ours
        return found

    def _note_time(self, by_program: int, ours: int) -> None:
        """Note whether we compact later than the program, or before it, and what was due or demanded when we did.

        We do not if it had hidden no more than we had, and compacted since: then it did so without hiding more.
        """
        is_earlier = self.program.compactions == self._compactions_then
        self._is_other_time = self._last_ours < by_program or is_earlier
        self._compactions_then = self.program.compactions
        self._due_then, self._due_since = self._due_since, []
        # What the program showed did not fit, so it would have been refused: hidden messages do not come back later.
        self._demanded = ours if self.program.exact_tokens > self.program.exact.limit else 0

    def _messages_in(self, spans: Spans) -> int:
        return sum(self._counted[last] - self._counted[first - 1] for first, last in spans)

    def _tokens_beyond(self, shown: Sequence[JsonDict], hidden: Spans) -> int:
        """The exact tokens of the messages out of view that are not in `hidden`, as the program shows them."""
        in_view = self._seqs_of(shown)
        measure, cells = exact_measure(), self.program.live.cells
        return sum(
            measure.shown(entry, cells.get(entry.seq))
            for entry in self.program.entries
            if entry.seq not in in_view and not _is_within(entry.seq, hidden)
        )

    def _seqs_of(self, shown: Sequence[JsonDict]) -> set[int]:
        """The seqs of the messages in view: from the end, each is the newest that it can be."""
        found: set[int] = set()
        before = len(self._keys)
        for message in reversed(FORMATS[COMPARED].parse(shown)):
            key = _key_of(message)
            at = next((index for index in range(before - 1, -1, -1) if self._keys[index] == key), before - 1)
            found.add(at + 1)
            before = at
        return found


def watch_of(policy: Policy, frame: Frame, transcript: Transcript) -> OutOfViewWatch:
    """The watch of a session that is about to get a transcript."""
    exact = frame.goals(policy, fixed_tokens(transcript.system, transcript.tools), NOT_CALIBRATED)
    gauge = frame.gauge(policy, exact, Fixed(transcript.system, dumps(list(transcript.tools))))
    return OutOfViewWatch(PresetProgram(policy, gauge, exact), has_system=transcript.system is not None)


def _is_within(seq: int, spans: Spans) -> bool:
    at = bisect_right(spans, (seq, seq)) - 1
    candidates = spans[max(0, at) : at + 2]
    return any(first <= seq <= last for first, last in candidates)


def _originals(messages: Sequence[JsonDict], *, has_system: bool) -> Iterator[JsonDict]:
    """The messages of a view that were sent, without the system prompt and without Foldline's own."""
    for message in messages[1:] if has_system else messages:
        if not _is_own(message["role"], _first_text(message)):
            yield message


def _is_own(role: str, text: str) -> bool:
    if role == "tool":
        return text.endswith(wording.UNANSWERED)
    is_marker = wording.HIDDEN_BEGIN.match(text) or wording.INTERIM_BEGIN.match(text)
    return role == "user" and (text.startswith((wording.SUMMARY, IMAGES_ABOVE)) or is_marker is not None)


def _first_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = content[0].get("text") if content else None
    return content if isinstance(content, str) else ""


def _key_of(message: Message) -> Key:
    if message.result is not None:
        return ("tool", message.result.call_id or "")
    if message.calls:
        return (message.role, *(call.id for call in message.calls))
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return LATE if texts and texts[0].startswith(LATE_BEGIN) else (message.role, *texts)
