"""What any answer in pi's place must hold, reported from the recorded items alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from math import ceil
from typing import Any

from tests.parity.operations.promises import keeps_pairs
from tests.parity.vectors import Json, agrees

IMAGE_CHARS = 4_800
TEXTS = ("content", "thinking", "command", "output", "summary")
NO_MESSAGES = frozenset({"compaction", "model_change"})
BESIDE_CHAT = frozenset({"note", "branch_summary", "model_change"})


def tokens_of(item: Json) -> int:
    """A fourth of all characters of an item, images included."""
    texts, images = [], 0
    for name in TEXTS:
        parts = item.get(name) or ""
        for part in parts if isinstance(parts, list) else [{"text": parts}]:
            texts.append(part.get("text", ""))
            images += "image_url" in part
    for call in item.get("tool_calls") or ():
        arguments = json.loads(call["function"]["arguments"])
        texts += [call["function"]["name"], json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))]
    return ceil(
        (
            sum(len(char.encode("utf-16-le", "surrogatepass")) for text in texts for char in text) / 2
            + images * IMAGE_CHARS
        )
        / 4
    )


def counts_all(args: Json, found: Json) -> bool:
    """Images cost, whoever sends them."""
    return bool(found["tokens"] == tokens_of(args["message"]))


def _reported(item: Json) -> int:
    usage = item.get("usage")
    if not usage or item.get("stop"):
        return 0
    return int(usage["total"] or usage["input"] + usage["output"] + usage["cache_read"] + usage["cache_write"])


def _counted(items: Sequence[Json], since: int = 0) -> tuple[int, int, int | None]:
    """What was reported last from `since` on, what came after it, and with which item: a report of nothing is none."""
    last = max((index for index, item in enumerate(items) if index >= since and _reported(item)), default=None)
    after = items if last is None else items[last + 1 :]
    return 0 if last is None else _reported(items[last]), sum(map(tokens_of, after)), last


def counts_what_was_reported(args: Json, found: Json) -> bool:
    reported, after, last = _counted(args["messages"])
    counted = {
        "tokens": reported + after,
        "usage_tokens": reported,
        "trailing_tokens": after,
        "last_usage": last,
    }
    return agrees(counted, found)


def compacts_in_time(args: Json, found: Json) -> bool:
    """Not while half of the window is free, nor only after it is full."""
    tokens, window = args["context_tokens"], args["context_window"]
    if not args["enabled"]:
        return found["compact"] is False
    return not (tokens <= window / 2 and found["compact"]) and not (tokens > window and not found["compact"])


def _is_result(item: Json) -> bool:
    return item.get("role") == "tool"


def _begins_turn(item: Json) -> bool:
    return item.get("role") == "user" or item.get("kind") in {"bash", "note", "branch_summary"}


def _keeps_no_more(items: Sequence[Json], first_kept: int, keep_tokens: int) -> bool:
    """The first unit kept is needed for what is to be kept, or is the only one."""
    heads = [
        index
        for index, item in enumerate(items)
        if index >= first_kept and not _is_result(item) and item.get("kind") not in BESIDE_CHAT | NO_MESSAGES
    ]
    more = [item for item in items[heads[1] if len(heads) > 1 else 0 :] if item.get("kind") not in NO_MESSAGES]
    return len(heads) < 2 or sum(map(tokens_of, more)) < keep_tokens


def cuts_between_units(args: Json, found: Json) -> bool:
    """A cut keeps calls with results, something is kept but no more than is needed, and a split turn began before."""
    items, first, turn = args["messages"], found["first_kept"], found["turn_start"]
    is_whole = 0 <= first < len(items) and not _is_result(items[first]) and keeps_pairs(items, range(first))
    is_turn = turn is None or (turn < first and _begins_turn(items[turn]))
    return (
        is_whole
        and found["split"] == (turn is not None)
        and is_turn
        and _keeps_no_more(items, first, args["keep_recent_tokens"])
    )


def _former(items: Sequence[Json]) -> int | None:
    return max((index for index, item in enumerate(items) if item.get("kind") == "compaction"), default=None)


def _files(items: Sequence[Json]) -> Json:
    """The files of calls and of former summaries that were not made outside."""
    read, modified = set[str](), set[str]()
    for item in items:
        if item.get("kind") == "compaction" and not item.get("external"):
            read.update(item.get("read_files", ()))
            modified.update(item.get("modified_files", ()))
        for call in item.get("tool_calls") or ():
            path = json.loads(call["function"]["arguments"]).get("path")
            if isinstance(path, str):
                {"read": read, "edit": modified, "write": modified}.get(call["function"]["name"], set[str]()).add(path)
    return {"read_files": sorted(read - modified, key=_utf16), "modified_files": sorted(modified, key=_utf16)}


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _tokens_before(items: Sequence[Json], former: int | None) -> int:
    """Of all that is in view; what was reported before the last compaction counted more than that."""
    start = 0 if former is None else items[former]["first_kept"]
    kept = [item for item in items[start:former] if item.get("kind") not in NO_MESSAGES]
    if former is None:
        return sum(_counted(kept)[:2])
    after = [item for item in items[former:] if item.get("kind") not in NO_MESSAGES]
    return sum(_counted([items[former], *kept, *after], 1 + len(kept))[:2])


def summarizes_what_is_not_kept(args: Json, found: Any) -> bool:
    """All from the former summary on is summarized or kept, and that summary is taken up by one of the history."""
    items, keep_tokens = args["messages"], args["keep_recent_tokens"]
    former = _former(items)
    start = 0 if former is None else items[former]["first_kept"]
    if found is None:
        return former == len(items) - 1 or _keeps_no_more(items, start, keep_tokens)
    first, gone = found["first_kept"], [*found["summarized"], *found["turn_prefix"]]
    is_complete = gone == [index for index in range(start, first) if items[index].get("kind") not in NO_MESSAGES]
    is_whole = bool(gone) and not _is_result(items[first]) and keeps_pairs(items[start:], [at - start for at in gone])
    is_carried = found["previous_summary"] == former and (former is None or bool(found["summarized"]))
    is_split = found["split"] == bool(found["turn_prefix"])
    files = _files([items[index] for index in [*gone, *([] if former is None else [former])]])
    return (
        is_complete
        and is_whole
        and is_carried
        and is_split
        and _keeps_no_more(items, first, keep_tokens)
        and agrees({**files, "tokens_before": _tokens_before(items, former)}, found)
    )


def _path(entries: Collection[Json], leaf: str) -> list[Json]:
    by_id = {entry["id"]: entry for entry in entries}
    path: list[Json] = []
    at = by_id.get(leaf)
    while at is not None:
        path.insert(0, at)
        at = by_id.get(at["parent"])
    return path


def shows_what_is_not_covered(args: Json, found: Json) -> bool:
    """The last summary, and what no summary of the path covers, and nothing else; calls without results get a stub."""
    path = _path(args["entries"], args["leaf"])
    names = [entry["id"] for entry in path]
    compactions = [entry for entry in path if entry.get("kind") == "compaction"]
    cuts = [
        names.index(entry["first_kept"])
        for entry in compactions
        if entry["first_kept"] in names[: names.index(entry["id"])]
    ]
    start = max(cuts, default=0)
    while start and _is_result(path[start]):
        start -= 1
    rest = [entry for entry in path[start:] if entry.get("kind") not in NO_MESSAGES]
    shown = [entry["id"] for entry in [*compactions[-1:], *rest]]
    answered = {entry.get("tool_call_id") for entry in rest}
    calls = [(call["id"], entry["id"]) for entry in rest for call in entry.get("tool_calls") or ()]
    is_answered = found.get("stubbed", []) == [name for call, name in calls if call not in answered]
    is_asked = answered - {None} <= {call for call, _ in calls}
    return bool(found["entries"] == shown and is_answered and is_asked)
