"""Session files of pi for tests, and sessions imported from them. The text of each entry has the entry's name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select

from foldline.engine.messages import Message, Other, Part, Text, ToolResult
from foldline.engine.session_files import pi
from foldline.engine.wire import loads
from foldline.log.storage import paths, segments
from foldline.log.storage.tables import BRANCH, ENTRY
from foldline.log.transfer.exporting import export_session
from foldline.log.transfer.importing import import_session
from foldline.log.transfer.prepared import prepare
from foldline.log.use_cases import views
from tests.support.log.sessions import RESERVE_TOKENS, Scene

Json = dict[str, Any]

MODEL = {"provider": "openai", "modelId": "gpt-4o"}
TIME = "2026-03-01T12:00:00.250Z"
HEADER: Json = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/home/me", **MODEL}


def entry(kind: str, name: str, **fields: Any) -> Json:
    """An entry without a parent."""
    return {"type": kind, "id": name, "timestamp": TIME, **fields}


def said(name: str, role: str, **fields: Any) -> Json:
    return entry("message", name, message={"role": role, **fields})


def user(name: str) -> Json:
    return said(name, "user", content=name)


def answer(name: str, *calls: str, **fields: Any) -> Json:
    """An assistant's message with calls of these ids."""
    listed = [{"type": "toolCall", "id": call, "name": "read", "arguments": {"path": call}} for call in calls]
    return said(name, "assistant", content=[{"type": "text", "text": name}, *listed], **fields)


def result(name: str, call: str) -> Json:
    return said(name, "toolResult", toolCallId=call, toolName="read", content=[{"type": "text", "text": name}])


def bash(name: str, *, is_excluded: bool = False) -> Json:
    return said(name, "bashExecution", command=name, output="", excludeFromContext=is_excluded)


def note(name: str) -> Json:
    return entry("custom_message", name, customType="note", content=name, display=True)


def compaction(name: str, first_kept: str | None, **fields: Any) -> Json:
    return entry("compaction", name, summary=name, firstKeptEntryId=first_kept, tokensBefore=9, **fields)


def branch_summary(name: str, left: str = "root", **fields: Any) -> Json:
    return entry("branch_summary", name, summary=name, fromId=left, **fields)


def model_change(name: str, model: str = "gpt-4o-mini") -> Json:
    return entry("model_change", name, provider="openai", modelId=model)


def chain(*entries: Json, after: str | None = None) -> list[Json]:
    """The entries, each the child of the one before it."""
    parents = [after, *(each["id"] for each in entries)]
    return [{**each, "parentId": parent} for each, parent in zip(entries, parents, strict=False)]


def file_of(entries: Sequence[Json], **header: Any) -> str:
    """The text of a file."""
    return pi.write({**HEADER, **header}, entries)


def first_version(entries: Sequence[Json]) -> str:
    """The text of a file of version 1, which has no ids."""
    header = {key: value for key, value in HEADER.items() if key != "version"}
    return pi.write(header, [{k: v for k, v in each.items() if k not in {"id", "parentId"}} for each in entries])


def lines_of(text: str) -> list[Json]:
    """The objects of a file, its header first."""
    return [loads(line) for line in text.split("\n")[:-1]]


@dataclass(slots=True)
class Imported(Scene):
    """A session imported from a file; `limit` is its budget, large enough for any test."""

    limit: int = 100_000
    file: str = ""

    def __post_init__(self) -> None:
        given = {"id": self.id, "context_window": self.limit + RESERVE_TOKENS, "max_output_tokens": RESERVE_TOKENS}
        if self.policy is not None:
            given["policy"] = self.policy
        with self.store.write() as tx:
            import_session(tx, self.tenant, given, prepare(pi.read(self.file)))


def exported(scene: Scene) -> str:
    with scene.store.read() as tx:
        return export_session(tx, scene.tenant, scene.id)


def entry_ids(scene: Scene) -> dict[str, str]:
    """The id of every entry of a session, by the id it has in a file."""
    columns = (ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.kind, ENTRY.c.format, ENTRY.c.body)
    with scene.store.read() as tx:
        pk = paths.open_head(tx, scene.tenant, scene.id).session.pk
        rows = tx.execute(select(*columns).where(ENTRY.c.session_pk == pk).order_by(ENTRY.c.branch, ENTRY.c.seq)).all()
    names = {}
    for row in rows:
        body, place = loads(row.body), segments.entry_id(row.branch, row.seq)
        source = body if row.format == "pi" else {} if row.kind == "message" else body.get("origin", {})
        names[source.get("id", place)] = place
    return names


def leaves_of(file: str) -> list[str]:
    """The ids of the entries without a child."""
    entries = pi.read(file).entries
    parents = {each.parent for each in entries}
    return [each.id for each in entries if each.id not in parents]


def seen(scene: Scene, *, must_fit: bool = False) -> list[Message]:
    """The view at the head."""
    with scene.store.read() as tx:
        return views.view(tx, scene.tenant, scene.id, must_fit=must_fit, stub_open=True).messages


def names_in(messages: Sequence[Message], names: Collection[str]) -> list[str]:
    """The names of entries in a view, in its order."""
    lines = (line.removeprefix("$ ") for message in messages for part in message.parts for line in _lines(part))
    return [line for line in lines if line in names]


def _lines(part: Part) -> Iterator[str]:
    if isinstance(part, ToolResult):
        for inner in part.content:
            yield from _lines(inner)
    elif isinstance(part, Text):
        yield from part.text.split("\n")


def bare(messages: Sequence[Message]) -> list[Message]:
    """Messages without the differences between formats; only pi, for example, names the tool of a result."""
    return [Message(message.role, tuple(map(_bare, message.parts))) for message in messages]


def _bare(part: Any) -> Any:
    if isinstance(part, ToolResult):
        return replace(part, content=tuple(map(_bare, part.content)), name=None, source=None)
    return part if isinstance(part, Other) else replace(part, source=None)


def shown_at_leaves(scene: Scene) -> list[list[Message]]:
    """The views at all leaves of the tree, sorted."""
    with scene.store.read() as tx:
        pk = paths.open_head(tx, scene.tenant, scene.id).session.pk
        last = select(ENTRY.c.branch, func.max(ENTRY.c.seq)).where(ENTRY.c.session_pk == pk).group_by(ENTRY.c.branch)
        ends = {(branch, seq) for branch, seq in tx.execute(last)}
        left = select(BRANCH.c.parent, BRANCH.c.left_seq).where(BRANCH.c.session_pk == pk)
        ends -= {(parent, seq) for parent, seq in tx.execute(left)}
    shown = []
    for branch, seq in ends:
        scene.move(segments.entry_id(branch, seq))
        shown.append(bare(seen(scene)))
    return sorted(shown, key=repr)
