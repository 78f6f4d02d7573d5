"""Recorded trees of pi, imported as session files: the view of a leaf is what pi sends a model from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from sqlalchemy import select

from foldline.engine.messages import Message, Part, Text, ToolResult
from foldline.engine.session_files import pi
from foldline.engine.wire import loads
from foldline.log.storage import segments
from foldline.log.storage.store import Store
from foldline.log.storage.tables import ENTRY
from foldline.log.transfer.importing import import_session
from foldline.log.transfer.prepared import prepare
from foldline.log.use_cases import branches, views
from tests.parity.__main__ import OWN
from tests.parity.operations.pi_promises import shows_what_is_not_covered
from tests.parity.test_parity import RECORDED
from tests.parity.vectors import Json, Vector, read_vectors
from tests.support.log.sessions import TENANT
from tests.support.processes.databases import only_sqlite

# Many trees of one shape: what is stored of them is tested in test_session_files.py.
database_kind = only_sqlite

HEADER: Json = {"type": "session", "version": 3, "id": "tree", "provider": "test", "modelId": "model"}


def _user(value: Json) -> Json:
    return {"type": "message", "message": {"role": "user", "content": value["id"]}}


def _assistant(value: Json) -> Json:
    calls = [
        {
            "type": "toolCall",
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": loads(call["function"]["arguments"]),
        }
        for call in value.get("tool_calls") or ()
    ]
    text = {"type": "text", "text": value["id"]}
    return {"type": "message", "message": {"role": "assistant", "content": [text, *calls]}}


def _result(value: Json) -> Json:
    content = [{"type": "text", "text": value["id"]}]
    said = {"toolCallId": value["tool_call_id"], "toolName": value["name"], "content": content}
    return {"type": "message", "message": {"role": "toolResult", **said}}


def _bash(value: Json) -> Json:
    return {"type": "message", "message": {"role": "bashExecution", "command": value["id"], "output": ""}}


def _note(value: Json) -> Json:
    return {"type": "custom_message", "customType": "note", "content": value["id"], "display": True}


def _branch_summary(value: Json) -> Json:
    return {"type": "branch_summary", "fromId": "root", "summary": value["id"]}


def _compaction(value: Json) -> Json:
    first_kept = {"firstKeptEntryId": value["first_kept"], "tokensBefore": 1}
    return {"type": "compaction", "summary": value["id"], **first_kept}


def _model_change(_value: Json) -> Json:
    return {"type": "model_change", "provider": "test", "modelId": "other"}


# The text of each is its id alone, so that the view shows which entries are in it.
ENTRIES: Mapping[str, Callable[[Json], Json]] = {
    "user": _user,
    "assistant": _assistant,
    "tool": _result,
    "bash": _bash,
    "note": _note,
    "branch_summary": _branch_summary,
    "compaction": _compaction,
    "model_change": _model_change,
}


def _file_of(values: Sequence[Json]) -> pi.PiSession:
    entries = [
        {**ENTRIES[value.get("kind") or value["role"]](value), "id": value["id"], "parentId": value["parent"]}
        for value in values
    ]
    return pi.read(pi.write(HEADER, entries))


def _vectors() -> Iterator[Vector]:
    for folder in (OWN, RECORDED):
        found = read_vectors(folder) if folder.is_dir() else iter(())
        yield from (vector for vector in found if (vector.system, vector.op) == ("pi", "context"))


@pytest.mark.parametrize("vector", [*_vectors()], ids=lambda vector: vector.id)
def test_a_leaf_of_an_imported_tree_shows_what_pi_sends(vector: Vector, store: Store) -> None:
    if vector.args["leaf"] is None:
        pytest.skip("there is always a leaf here")
    names, shown = _shown(store, vector.args)
    if vector.is_clean:
        assert names == vector.expect["entries"]
    stubbed = [head for head, message in _stubs(shown)]
    assert shows_what_is_not_covered(vector.args, {"entries": names, "stubbed": stubbed})


def _shown(store: Store, args: Json) -> tuple[list[str], list[Message]]:
    with store.write() as tx:
        import_session(tx, TENANT, {"context_window": 100_000}, prepare(_file_of(args["entries"])))
    with store.write() as tx:
        rows = tx.execute(select(ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.body))
        places = {_id_of(loads(row.body)): segments.entry_id(row.branch, row.seq) for row in rows}
        branches.move(tx, TENANT, HEADER["id"], places[args["leaf"]])
        view = views.view(tx, TENANT, HEADER["id"], must_fit=False)
    ids = {entry["id"] for entry in args["entries"]}
    return [name for message in view.messages for name in _named(message, ids)], view.messages


def _id_of(body: Json) -> str:
    name: str = body.get("origin", body)["id"]
    return name


def _named(message: Message, ids: set[str]) -> list[str]:
    said = [line.removeprefix("$ ") for part in message.parts for line in _text(part).split("\n")]
    return [line for line in said if line in ids]


def _text(part: Part) -> str:
    if isinstance(part, ToolResult):
        return "\n".join(_text(inner) for inner in part.content)
    return part.text if isinstance(part, Text) else ""


def _stubs(shown: Sequence[Message]) -> Iterator[tuple[str, Message]]:
    """The stubs in a view, each with the first text of the message whose call it answers."""
    head = ""
    for message in shown:
        if message.role == "assistant":
            head = _text(message.parts[0])
        if message.result is not None and message.result.is_error:
            yield head, message
