"""Conversations as a whole: written out for a summarizer, and with images and pairs put right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from foldline.engine.images.in_messages import surplus_images
from foldline.engine.messages import Message, Thinking
from foldline.engine.planning.batches import Orphan, Orphans, orphans_of, place_all
from foldline.engine.summaries.styles import STYLES, Style, head
from foldline.engine.summaries.transcript import serialize
from tests.parity.operations.counting import message_of, no_recorded_defect
from tests.parity.vectors import Json, Operation, Operations

# The note is theirs; ours says the same in other words.
PI: Final = replace(STYLES["pi@program"], cut_result=partial(head, note="\n\n[... {count} more characters truncated]"))
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def with_thinking(value: Json) -> Message:
    """A message of the vectors' shape, with its reasoning, if it has any, before all else."""
    message = message_of(value)
    thinking = (Thinking(value["thinking"]),) if value.get("thinking") else ()
    return replace(message, parts=(*thinking, *message.parts))


def _serialize(style: Style, args: Json) -> Json:
    return {"text": serialize([with_thinking(value) for value in args["messages"]], style)}


def _shows_tools(args: Json, found: Json) -> bool:
    """Each call's tool and arguments, and what came back, are in the text."""
    shown = [value["content"] for value in args["messages"] if value["role"] == "tool"]
    for call in _calls(args):
        shown += [call["function"]["name"], call["function"]["arguments"]]
    return all(text in found["text"] for text in shown)


def _cuts_no_character(args: Json, found: Json) -> bool:
    given = json.dumps(args, ensure_ascii=False)
    return bool(LONE_SURROGATE.search(given)) or not LONE_SURROGATE.search(found["text"])


def _evict_images(args: Json) -> Json:
    messages = [message_of(value) for value in args["messages"]]
    places = surplus_images(messages, args["max_bytes"], args["max_count"])
    return {"evicted": [list(place) for place in places], "applied": bool(places)}


def _orphans(args: Json) -> Orphans:
    """What our view mends, by the indexes of the messages."""
    placed, _ = place_all((message_of(value) for value in args["messages"]), first_seq=0)
    return orphans_of(placed)


def _calls(args: Json) -> Iterator[Json]:
    for value in args["messages"]:
        yield from value.get("tool_calls") or ()


def _repair_all(args: Json) -> Json:
    calls, results = map(_indexes, _orphans(args))
    return {"orphan_calls": calls, "orphan_results": results, "applied": bool(calls or results)}


def _drop_results(args: Json) -> Json:
    """Results without any call; one that is merely late is quoted. The calls that get a stub stand beside them."""
    found = _orphans(args)
    known = {call["id"] for call in _calls(args)}
    dropped = [orphan.seq for orphan in found.results if orphan.call_id not in known]
    return {"dropped": dropped, "stubbed": _indexes(found.calls), "applied": bool(dropped or found.calls)}


def _indexes(orphans: tuple[Orphan, ...]) -> list[int]:
    return [orphan.seq for orphan in orphans]


def _without_counterpart(args: Json) -> tuple[list[int], list[int]]:
    """The messages whose calls are not all answered right after them, and the results no call stands before."""
    calls: list[int] = []
    results: list[int] = []
    waiting: set[str] = set()
    head_at = -1
    for index, value in enumerate([*args["messages"], {"role": "user"}]):
        if value["role"] == "tool":
            if value["tool_call_id"] not in waiting:
                results.append(index)
            waiting.discard(value["tool_call_id"])
            continue
        calls += [head_at] * len(waiting)
        waiting, head_at = {call["id"] for call in value.get("tool_calls") or ()}, index
    return calls, results


def _mends_each_pair(args: Json, found: Json) -> bool:
    return (found["orphan_calls"], found["orphan_results"]) == _without_counterpart(args)


def _leaves_no_call_unanswered(args: Json, found: Json) -> bool:
    return bool(found.get("stubbed") == _without_counterpart(args)[0])


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("agent_code", "serialize"): Operation(partial(_serialize, STYLES["agent-code"]), _shows_tools),
        ("pi", "serialize"): Operation(partial(_serialize, PI), _cuts_no_character),
        ("agent_code", "evict_images"): Operation(_evict_images, no_recorded_defect),
        ("neurolink", "repair"): Operation(_repair_all, _mends_each_pair),
        ("codebuddy", "repair"): Operation(_drop_results, _leaves_no_call_unanswered),
    }
)
