"""Code Buddy's compaction: the engine decides, its recorded summarizer, and what it says in a view, are played here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, repeat
from math import floor
from sys import maxsize
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.outline import Item, Outline, Unit
from foldline.engine.planning.chunks import chunk_limit, chunked
from foldline.engine.planning.in_place import UNBOUNDED_TOKENS
from foldline.engine.planning.pipeline import make_plan
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.recent import older_items
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import ESTIMATES, Estimate, utf16_units
from foldline.engine.tokens.measures import Measure
from tests.parity.operations.counting import no_recorded_defect
from tests.parity.operations.measured import Said, goals_for, measure_for, outline_of_vector, stage
from tests.parity.operations.promises import keeps_last_user, keeps_pairs, last_user
from tests.parity.vectors import Json, Operation, Operations

PROGRAM: Final = PRESETS["codebuddy@program"]
LAYOUT: Final = LAYOUTS[PROGRAM.layout]
USUAL_RESERVE: Final = 4_096

STRIPPED: Final = "[Tool result truncated — originally {} chars]"
SUMMARY: Final = "[Conversation Summary — {} earlier messages compacted]\n\n{}"
OMITTED: Final = "[Large {} message (~{}K tokens) omitted from summary]"
HALF_SUMMARY: Final = "[Earlier conversation summary — {} messages compacted]\n\n{}"
PLAIN: Final = "[Conversation context — {} earlier messages removed to fit context window]"
ROLES: Final = "User messages: {user}, Assistant responses: {assistant}, Tool calls: {tool}"
TOPICS: Final = "Topics discussed:"
TOPIC_CHARS: Final = 80
TOPICS_MOST: Final = 10
# Of a window, what a message may take and still be read by the summarizer.
READABLE_SHARE: Final = 0.5
# How many calls of the model come to nothing before one does not.
SILENT_CALLS: Final = MappingProxyType({"ok": 0, "fail_first": 1, "fail": maxsize})


@dataclass(frozen=True, slots=True)
class _ByNotice(Measure):
    """A measure by which a cleared result takes what the notice does that says its length."""

    estimate: Estimate = ESTIMATES["chars4"]

    def shown(self, entry: Facts, cell: Edit | None) -> int:
        if cell is not None and cell.kind == "clear":
            return self.estimate.text(STRIPPED.format(entry.chars))
        return Measure.shown(self, entry, cell)


def _outline(messages: list[Json], counter: str) -> Outline:
    plain = measure_for(counter, Said(cleared=STRIPPED.format(0)))
    values = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return outline_of_vector(messages, _ByNotice(**values, estimate=ESTIMATES[counter]))


def _strip(args: Json) -> Json:
    outline = _outline(args["messages"], "chars4")
    plan = make_plan(outline, [PROGRAM.stage("strip")], goals_for(-1, UNBOUNDED_TOKENS))
    cleared = [edit.first - 1 for edit in plan.edits]
    return {"cleared": cleared, "applied": bool(cleared), "tokens_saved": outline.tokens - plan.tokens}


class _Reported(NamedTuple):
    """What a summarizer reported of messages: it read them in chunks, and left some out."""

    tier: int
    covered: Sequence[int]
    text: str
    chunks: Sequence[Sequence[int]] = ()
    omitted: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class _Summarizer:
    """The recorded summarizer, asked for what is old in an outline that the engine has cleared and hidden to fit."""

    messages: list[Json]
    outline: Outline
    budget: int
    answers: Iterator[str]

    def says(self) -> _Reported | None:
        """What the first of its ways that comes to something does; None if nothing is old."""
        return self._by_chunks() or self._half() or self._plainly()

    def _by_chunks(self) -> _Reported | None:
        """Each chunk alone and then all together; a message that takes too much of the window is only named."""
        older, window = self._older(), self.budget * LAYOUT.safety
        tokens = self._tokens()[: len(older)]
        large = [index for index in older if tokens[index] * LAYOUT.safety > window * READABLE_SHARE]
        chunks = [
            [index for index in chunk if index not in large] for chunk in chunked(tokens, chunk_limit(tokens, window))
        ]
        chunks = [chunk for chunk in chunks if chunk]
        texts = [next(self.answers) for _ in chunks]
        if not texts or not all(texts):
            return None
        text = texts[0] if len(texts) == 1 else next(self.answers)
        notes = [OMITTED.format(self.messages[index]["role"], floor(tokens[index] / 1000 + 0.5)) for index in large]
        reported = "\n\n".join(filter(None, (text, "\n".join(notes))))
        return _Reported(2, older, SUMMARY.format(len(older), reported), chunks, large)

    def _half(self) -> _Reported | None:
        """The older half at once."""
        recent = PROGRAM.stage("summarize").number("keep_messages")
        half = (len(self.messages) - recent) // 2
        older = self._older(keep_messages=len(self.messages) - half, at_least_messages=1)
        text = next(self.answers) if older else ""
        return _Reported(3, older, HALF_SUMMARY.format(len(older), text), [older]) if text else None

    def _plainly(self) -> _Reported | None:
        """How many of whom, and what the user's messages begin with; no model is asked."""
        older = self._older(at_least_messages=1)
        roles = Counter({"user": 0, "assistant": 0, "tool": 0})
        roles.update(self.messages[index]["role"] for index in older)
        topics = [_topic(self.messages[index]["content"]) for index in older if self.messages[index]["role"] == "user"]
        lines = [PLAIN.format(len(older)), ROLES.format(**roles)]
        lines += [TOPICS, *topics[:TOPICS_MOST]] if topics else []
        return _Reported(4, older, "\n".join(lines)) if older else None

    def _older(self, **parameters: int) -> list[int]:
        """What the engine has summarized under the policy's stage with these parameters: nothing the user asks last."""
        own = stage("summarize", **{**PROGRAM.stage("summarize").parameters, **parameters})
        due, user = older_items(self.outline, own, 0, 0), self.outline.last_user
        return _indexes(self.outline.items[: due if user < 0 else min(due, user)])

    def _tokens(self) -> list[int]:
        """What each message takes as it is shown, or would be if it were not hidden."""
        cells, measure = self.outline.live.cells, self.outline.measure
        entries = [entry for item in self.outline.items if isinstance(item, Unit) for entry in item.entries]
        return [measure.shown(entry, cells.get(entry.seq)) for entry in entries]


def _indexes(items: Iterable[Item]) -> list[int]:
    return [entry.seq - 1 for item in items if isinstance(item, Unit) for entry in item.entries]


def _topic(content: str) -> str:
    line = content.split("\n", maxsplit=1)[0].strip()
    if utf16_units(line) > TOPIC_CHARS:
        units = line.encode("utf-16-le", "surrogatepass")
        line = units[: 2 * TOPIC_CHARS - 6].decode("utf-16-le", "surrogatepass") + "..."
    return f"- {line}"


def _compact(args: Json) -> Json:
    window, system, reserved = (
        args[name] for name in ("max_context_tokens", "system_prompt_tokens", "reserved_response_tokens")
    )
    budget = LAYOUT.budget(window, system, USUAL_RESERVE if reserved is None else reserved)
    outline = _outline(args["messages"], args["counter"])
    reached = LAYOUT.reached(outline.tokens + system, window)
    plan = make_plan(outline, PROGRAM.stages, goals_for(budget))
    after, reported = outline.edited(plan.edits), None
    if plan.is_summary_wanted:
        after, reported = _summarized(args, after, budget)
    kept = _indexes(item for item in after.items if isinstance(item, Unit) and not item.is_hidden)
    return {
        "tier": _tier(plan, reported),
        "warning": reached[-1] if reached else "none",
        "budget": budget,
        "tokens_before": outline.tokens,
        "tokens_after": after.tokens,
        "kept": kept,
        "stripped": [index for index in kept if index + 1 in after.live.cells],
        "chunks": reported.chunks if reported else [],
        "omitted": reported.omitted if reported else [],
        "pending": _indexes(item for item in after.items if isinstance(item, Unit) and item.is_hidden),
    }


def _summarized(args: Json, outline: Outline, budget: int) -> tuple[Outline, _Reported | None]:
    """The outline with a summary in it, and what that says; as it was where there is none, or no room for it."""
    answers = chain(repeat("", SILENT_CALLS[args["llm"]]), repeat(args["summary"] or ""))
    reported = _Summarizer(args["messages"], outline, budget, answers).says()
    if reported is None:
        return outline, None
    first, last = (reported.covered[at] + 1 for at in (0, -1))
    tokens = ESTIMATES[args["counter"]].text(reported.text)
    after = outline.edited([Edit("condense", first, last, summary="reported", tokens=tokens)])
    return (after, reported) if after.tokens <= max(outline.tokens, budget) else (outline, None)


def _tier(plan: Plan, reported: _Reported | None) -> int:
    if not plan.is_summary_wanted:
        return 1 if plan.edits else 0
    return reported.tier if reported else 4


def _keeps_the_promises(args: Json, found: Json) -> bool:
    messages, kept = args["messages"], {*found["kept"]}
    gone = {*range(len(messages))} - kept
    tokens = [ESTIMATES[args["counter"]].text(message["content"]) for message in messages]
    is_whole = keeps_last_user(messages, gone) and keeps_pairs(messages, gone)
    is_counted = found["tokens_before"] == sum(tokens)
    is_shown = sum(tokens[index] for index in kept.difference(found["stripped"])) <= found["tokens_after"]
    is_no_larger = found["tokens_after"] <= found["tokens_before"]
    return (
        is_whole
        and is_counted
        and is_shown
        and is_no_larger
        and _has_room(args, found, tokens)
        and _is_pending(found, gone)
    )


def _has_room(args: Json, found: Json, tokens: list[int]) -> bool:
    """It fits, or nothing is left but what the user asked last; the newest four go only where they do not fit."""
    messages, kept = args["messages"], {*found["kept"]}
    reserved = args["reserved_response_tokens"]
    reserve = 4096 if reserved is None else reserved
    budget = max(0, floor((args["max_context_tokens"] - args["system_prompt_tokens"] - reserve) / 1.2))
    first = max(0, len(messages) - 4)
    while first and messages[first]["role"] == "tool":
        first -= 1
    user = last_user(messages)
    asked = tokens[user] if user >= 0 else 0
    newest = {*range(first, len(messages)), user} - {-1}
    is_recent = newest <= kept or sum(tokens[index] for index in newest) > budget
    return found["tokens_after"] <= max(budget, asked) and is_recent


def _is_pending(found: Json, gone: set[int]) -> bool:
    """What is gone is pending, or in a summary that was made of something."""
    read = {*found["omitted"]}.union(*found["chunks"])
    is_reported = found["tier"] == 4 or gone <= {*found.get("pending", ()), *read}
    return is_reported and (found["tier"] not in {2, 3} or bool(found["chunks"]))


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("codebuddy", "strip"): Operation(_strip, no_recorded_defect),
        ("codebuddy", "compact"): Operation(_compact, _keeps_the_promises),
    }
)
