"""What each tool does: requests to the service, and their answers as text for a model.

Each function takes the service, the id of the session as a part of a path, and the checked arguments without it. They
raise what `Client` raises, and `CannotAnswer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from foldline.client import Client, JsonDict
from foldline.engine.ledger.items import ItemKind
from foldline.engine.recall import tool
from foldline.engine.recall.quoting import one_line
from foldline.engine.wire import dumps_text

# Of the others there are many, and recall finds them.
LISTED_KINDS: Final = (
    ItemKind.RULE,
    ItemKind.REQUEST,
    ItemKind.PLAN,
    ItemKind.DECISION,
    ItemKind.PREFERENCE,
    ItemKind.CHANGED,
    ItemKind.FAILURE,
)
DEFAULT_ITEMS: Final = 20
ITEM_CHARS: Final = 400
# Shorter than any client of MCP waits for an answer: the least that is known of are the 30 s of OpenCode.
JOB_SECONDS: Final = 20
ACTIVE_JOBS: Final = frozenset({"queued", "running"})
# Why a view stays as it is, by the `reason` of `not_compacted`.
REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "recent": "most of the view is recent, or is the last message of the user",
        "open_calls": "most of the view is the batch of calls that wait for their results",
        "too_little": "what could go is too little",
        "no_room": "a finished summary does not fit",
        "held_back": "a summary failed; a later request tries it again",
        "too_many_jobs": "too many jobs wait or run; it is tried again by itself",
    }
)


class CannotAnswer(Exception):
    """The call cannot be answered; the message says why and what to do, for the model."""


def recall(service: Client, session_id: str, given: JsonDict) -> str:
    """Quotes of what is out of view."""
    call = {"type": "tool_call", "id": tool.NAME, "name": tool.NAME, "arguments": dumps_text(given)}
    (result,) = service.recall(session_id, "native", call)["result"]["parts"]
    text = "\n".join(part["text"] for part in result["content"])
    if result["is_error"]:
        raise CannotAnswer(text)
    return text


def ledger(service: Client, session_id: str, given: JsonDict) -> str:
    """The newest items of each kind, oldest first."""
    kinds = given.get("kinds") or LISTED_KINDS
    by_kind: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for item in service.ledger(session_id, kinds):
        if not item["is_dismissed"]:
            # What was said again counts where it was said last.
            by_kind[item["kind"]].pop(item["text"], None)
            by_kind[item["kind"]][item["text"]] = _line(item)
    # JSON has one kind of number.
    most = int(given.get("limit", DEFAULT_ITEMS))
    lines = chain.from_iterable(_section(kind, list(found.values()), most) for kind, found in by_kind.items() if found)
    return "\n".join(lines) or f"Nothing of these kinds was found: {', '.join(kinds)}."


def _line(item: JsonDict) -> str:
    state = f"[{item['state']}] " if item["state"] else ""
    return f"- {state}{one_line(item['text'], ITEM_CHARS)}"


def _section(kind: str, lines: list[str], most: int) -> Iterator[str]:
    yield f"{kind}:" if len(lines) <= most else f"{kind}, the newest {most} of {len(lines)}:"
    yield from lines[-most:]


def pin(service: Client, session_id: str, given: JsonDict) -> str:
    """That the text is pinned."""
    pinned = service.pin(session_id, given["text"])
    return f"Pinned as {pinned['id']}. The text is in every view from now on."


def compact(service: Client, session_id: str, given: JsonDict) -> str:
    """What was compacted; waits `JOB_SECONDS` for a summary at most."""
    answer = service.compact(session_id, given, wait_seconds=JOB_SECONDS)
    return " ".join(filter(None, (_compacted(answer), _summarized(answer["job"]))))


def _compacted(answer: JsonDict) -> str:
    result, kept = answer["result"], answer["not_compacted"]
    if result["compacted"]:
        return f"Compacted: the view has {result['tokens_after']:,} tokens, and had {result['tokens_before']:,}."
    if answer["job"] and answer["job"]["state"] in ACTIVE_JOBS:
        return ""
    if answer["job"]:
        return "Nothing was compacted."
    why = REASONS.get(kept["reason"], kept["reason"]) if kept else "there is nothing new since the last compaction"
    return f"Nothing was compacted: {why}."


def _summarized(job: JsonDict | None) -> str:
    if job is None or job["state"] == "succeeded":
        return ""
    if job["state"] in ACTIVE_JOBS:
        return f"A summary is being written by {job['id']}. Go on: the view has it once it is done."
    return f"The summary by {job['id']} was not made ({job['state']}): {job['error'] or 'no reason was given'}."


def undo(service: Client, session_id: str, given: JsonDict) -> str:
    """Which compactions were taken back."""
    chosen = given.get("compaction") or _newest(service.compactions(session_id))
    undone = service.undo(session_id, quote(chosen, safe=""))["undone"]
    return f"Undone: {', '.join(undone)}. What they took out of view is in view again, as far as it fits."


def _newest(compactions: Iterable[JsonDict]) -> str:
    live: list[str] = [compaction["id"] for compaction in compactions if compaction["live"]]
    if not live:
        raise CannotAnswer("There is no compaction to undo.")
    return live[-1]
