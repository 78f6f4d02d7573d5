"""pi's compaction: where it cuts, what goes into its summaries, and what its trees show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.edits import Edit, LiveEdits
from foldline.engine.facts import facts_of, files_of
from foldline.engine.files import Files
from foldline.engine.messages import Message, Role, Text
from foldline.engine.models.gauge import layout_of
from foldline.engine.outline import Outline, Unit, outline_of
from foldline.engine.planning.batches import Tail, orphans_of, place, place_all
from foldline.engine.planning.cut_points import turn_split_at
from foldline.engine.planning.in_place import UNBOUNDED_TOKENS
from foldline.engine.planning.recent import older_items
from foldline.engine.policies.presets import PRESETS
from foldline.engine.session_files.trees import Kind, TreeEntry, in_view, left_behind, newest_within, path_to, tree_of
from foldline.engine.tokens.estimates import ESTIMATES, ContextCount, context_count
from tests.parity.operations import pi_promises as promises
from tests.parity.operations.conversations import with_thinking
from tests.parity.operations.counting import USAGE, no_recorded_defect
from tests.parity.operations.measured import Said, measure_for, stage
from tests.parity.vectors import Json, Operation, Operations

PROGRAM: Final = PRESETS["pi@program"]
ESTIMATE: Final = ESTIMATES[PROGRAM.counter]
# What the program takes for a call on a file; the engine knows more names.
FILE_TOOLS: Final = frozenset({"read", "edit", "write"})
FAILED: Final = frozenset({"aborted", "error"})

# Items that are no chat messages: who says them to the model, and in which texts.
TEXTS: Final = MappingProxyType[str, tuple[Role, tuple[str, ...]]](
    {
        "bash": ("user", ("command", "output")),
        "note": ("developer", ("content",)),
        "branch_summary": ("developer", ("summary",)),
        "compaction": ("developer", ("summary",)),
        "model_change": ("developer", ()),
    }
)
KINDS: Final = MappingProxyType[str | None, Kind](
    {
        "compaction": "compaction",
        "branch_summary": "branch_summary",
        "model_change": "other",
        "tool": "result",
    }
)


def _message_of(value: Json) -> Message:
    if "kind" not in value:
        return with_thinking(value)
    role, texts = TEXTS[value["kind"]]
    return Message(role, tuple(Text(value[name]) for name in texts))


def _kind_of(value: Json) -> Kind:
    return KINDS.get(value.get("kind") or value["role"], "message")


def _entry_of(value: Json) -> TreeEntry:
    tokens = ESTIMATE.of_message(_message_of(value))
    return TreeEntry(value["id"], value["parent"], _kind_of(value), tokens, value.get("first_kept"))


def _tokens(args: Json) -> Json:
    return {"tokens": ESTIMATE.of_message(_message_of(args["message"]))}


def _counted(messages: Sequence[Json], since: int = 0) -> ContextCount:
    """What messages take, by the last report among those from `since` on."""
    reported = {index: _reported(value) for index, value in enumerate(messages) if index >= since}
    estimates = [ESTIMATE.of_message(_message_of(value)) for value in messages]
    return context_count(estimates, {index: tokens for index, tokens in reported.items() if tokens})


def _reported(value: Json) -> int:
    usage = value.get("usage")
    return 0 if not usage or value.get("stop") in FAILED else usage["total"] or sum(usage[key] for key in USAGE)


def _context_tokens(args: Json) -> Json:
    counted = _counted(args["messages"])
    return {"tokens": counted.tokens, **counted._asdict()}


def _trigger(args: Json) -> Json:
    window = args["context_window"]
    layout = layout_of(replace(PROGRAM, reserve_tokens=args["reserve_tokens"]), window)
    return {"compact": args["enabled"] and args["context_tokens"] > layout.available(window)}


class _Cut(NamedTuple):
    """The item that is kept first, and where the turn begins that is split there, by their indexes."""

    first_kept: int
    turn_start: int | None


def _outline(messages: Sequence[Json], start: int) -> Outline:
    """The outline of the items from `start` on; the seq of each is its index + 1."""
    facts, tail, summaries = [], Tail(), []
    for seq, value in enumerate(messages[start:], start + 1):
        if _kind_of(value) == "other":
            continue
        if _kind_of(value) == "compaction":
            summaries.append(Edit("condense", seq, seq, summary=str(seq)))
        placed = place(facts_of(_message_of(value)), seq, tail)
        facts.append(placed.facts)
        tail = placed.tail
    measure = measure_for(PROGRAM.counter, Said())
    return outline_of(map(measure.counted, facts), LiveEdits(condensed=tuple(summaries)), measure)


def _cut(messages: Sequence[Json], keep_tokens: int, start: int = 0) -> _Cut:
    outline = _outline(messages, start)
    own = stage("summarize", **{**PROGRAM.stage("summarize").parameters, "keep_tokens": keep_tokens})
    kept = outline.items[older_items(outline, own, 0, UNBOUNDED_TOKENS) :]
    first = next((item.first - 1 for item in kept if isinstance(item, Unit)), start)
    # What is no message stays with the one after it.
    while first > start and _kind_of(messages[first - 1]) == "other":
        first -= 1
    turn = turn_split_at(outline, first + 1)
    return _Cut(first, None if turn is None else turn - 1)


def _cut_point(args: Json) -> Json:
    cut = _cut(args["messages"], args["keep_recent_tokens"])
    return {**cut._asdict(), "split": cut.turn_start is not None}


def _prepare(args: Json) -> Json | None:
    """None if there is nothing to summarize."""
    messages = args["messages"]
    former = _last_compaction(messages)
    if former == len(messages) - 1:
        return None
    start = 0 if former is None else messages[former]["first_kept"]
    first_kept, turn_start = _cut(messages, args["keep_recent_tokens"], start)
    end = first_kept if turn_start is None else turn_start
    summarized, prefix = _said(messages, range(start, end)), _said(messages, range(end, first_kept))
    if former is not None and not summarized:
        # The former summary is taken up with the beginning of the turn: there is no history to do that with.
        summarized, prefix = prefix, []
    if not summarized and not prefix:
        return None
    files = _files(messages[index] for index in [*summarized, *prefix])
    if former is not None and not messages[former].get("external"):
        files |= Files(*(frozenset(messages[former].get(name, ())) for name in ("read_files", "modified_files")))
    return {
        "first_kept": first_kept,
        "split": bool(prefix),
        "summarized": summarized,
        "turn_prefix": prefix,
        "tokens_before": _tokens_before(messages),
        "previous_summary": former,
        "read_files": files.read_only,
        "modified_files": files.changed,
    }


def _last_compaction(messages: Sequence[Json]) -> int | None:
    found = (index for index in reversed(range(len(messages))) if _kind_of(messages[index]) == "compaction")
    return next(found, None)


def _said(messages: Sequence[Json], indexes: Iterable[int]) -> list[int]:
    return [index for index in indexes if _kind_of(messages[index]) not in {"compaction", "other"}]


def _tokens_before(messages: Sequence[Json]) -> int:
    """What the model sees takes; a report from before the last compaction is none of that."""
    path = [
        TreeEntry(str(index), kind=_kind_of(value), first_kept=str(value.get("first_kept")))
        for index, value in enumerate(messages)
    ]
    seen = [int(entry.id) for entry in in_view(path)]
    former = _last_compaction(messages)
    since = next((at for at, index in enumerate(seen) if former is None or index > former), len(seen))
    return _counted([messages[index] for index in seen], since).tokens


def _files(messages: Iterable[Json]) -> Files:
    calls = (call for value in messages for call in facts_of(_message_of(value)).calls)
    return files_of(call for call in calls if call.tool in FILE_TOOLS)


def _file_ops(args: Json) -> Json:
    files = _files(args["messages"])
    return {"read_files": files.read_only, "modified_files": files.changed}


def _context(args: Json) -> Json:
    """The entries in view; beside them those of which calls get a stub, and those that are quoted."""
    values = {value["id"]: value for value in args["entries"]}
    path = path_to(tree_of(map(_entry_of, args["entries"])), args["leaf"])
    seen = [entry.id for entry in in_view(path)]
    placed, _ = place_all((_message_of(values[name]) for name in seen), first_seq=0)
    calls, results = orphans_of(placed)
    return {
        "entries": seen,
        "stubbed": [seen[orphan.seq] for orphan in calls],
        "quoted": [seen[orphan.seq] for orphan in results],
    }


def _branch(args: Json) -> Json:
    tree = tree_of(map(_entry_of, args["entries"]))
    left = left_behind(path_to(tree, args["old_leaf"]), path_to(tree, args["target"]))
    return {
        "common_ancestor": left.common and left.common.id,
        "entries": [entry.id for entry in left.entries],
        "included": [entry.id for entry in newest_within(left.entries, args["token_budget"])],
    }


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("pi", "tokens"): Operation(_tokens, promises.counts_all),
        ("pi", "context_tokens"): Operation(_context_tokens, promises.counts_what_was_reported),
        ("pi", "trigger"): Operation(_trigger, promises.compacts_in_time),
        ("pi", "cut_point"): Operation(_cut_point, promises.cuts_between_units),
        ("pi", "prepare"): Operation(_prepare, promises.summarizes_what_is_not_kept),
        ("pi", "file_ops"): Operation(_file_ops, no_recorded_defect),
        ("pi", "context"): Operation(_context, promises.shows_what_is_not_covered),
        ("pi", "branch"): Operation(_branch, no_recorded_defect),
    }
)
