"""Prepares a session file for import: counts and checks its entries, which needs no lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from foldline.engine.errors import InvalidPolicy
from foldline.engine.facts import Facts, facts_of
from foldline.engine.messages import Message
from foldline.engine.session_files.pi import Kind, MalformedLine, PiEntry, PiSession, usage_of
from foldline.engine.view import branch_message, summary_message
from foldline.engine.wire import dumps
from foldline.log.storage import ids

# The message of an entry that no view shows.
_NOTHING: Final = Message("developer", ())
_SUMMARIES: Final[Mapping[Kind, Callable[[str], Message]]] = MappingProxyType(
    {"compaction": summary_message, "branch_summary": branch_message}
)


@dataclass(frozen=True, slots=True)
class PreparedEntry:
    """An entry of the file with the message that views show for it, that message's facts, and its body as stored."""

    entry: PiEntry
    message: Message
    facts: Facts
    body: bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A parsed file with its prepared entries, in the file's order."""

    file: PiSession
    drafts: tuple[PreparedEntry, ...]

    @property
    def id(self) -> str:
        """The file's own id.

        Raises:
            MalformedLine: it is not a valid id of a session.
        """
        name: str = self.file.header["id"]
        if not ids.is_id(name):
            detail = f"{name!r:.80} is not 1 to 128 of A-Z, a-z, 0-9 and ._~-, the first a letter or digit"
            raise MalformedLine(self.file.header_line, f"header.id: {detail}; give another id")
        return name

    @property
    def model(self) -> str:
        """The model in use at the file's leaf, as `provider/name`.

        Raises:
            InvalidPolicy: the file names no model.
            MalformedLine: it is not a valid name.
        """
        model = self.file.model
        if model is None:
            raise InvalidPolicy("model", "is not in the file; give one, as provider/name")
        if not ids.is_name(model):
            detail = f"{model!r:.80} is longer than 200 characters or has some that no name has"
            raise MalformedLine(self.file.model_line, f"model: {detail}; give another model")
        return model


def prepare(file: PiSession) -> Prepared:
    """The file with its entries counted and serialized; call it before a lock is taken.

    Raises:
        MalformedLine: an entry cannot be stored.
    """
    return Prepared(file, tuple(map(_draft, file.entries)))


def _draft(entry: PiEntry) -> PreparedEntry:
    _check_usage(entry)
    message = _said(entry)
    return PreparedEntry(entry, message, facts_of(message), dumps(entry.source))


def _said(entry: PiEntry) -> Message:
    summary = _SUMMARIES.get(entry.kind)
    return summary(entry.source["summary"]) if summary else entry.message or _NOTHING


def _check_usage(entry: PiEntry) -> None:
    for name, tokens in usage_of(entry.source).items():
        if not 0 <= tokens <= ids.LARGEST:
            raise MalformedLine(entry.line, f"entry.message.usage.{name}: expected 0 to {ids.LARGEST}")
