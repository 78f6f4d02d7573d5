"""Session files ready to be imported: what they say is counted and checked, which needs no lock."""

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

# What never is in a view says nothing.
_NOTHING: Final = Message("developer", ())
_SUMMARIES: Final[Mapping[Kind, Callable[[str], Message]]] = MappingProxyType(
    {"compaction": summary_message, "branch_summary": branch_message}
)


@dataclass(frozen=True, slots=True)
class PreparedEntry:
    """An entry ready to be added: the message that it is in a view, with its facts, and its object as it is kept."""

    entry: PiEntry
    message: Message
    facts: Facts
    body: bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file and its entries, ready to be added."""

    file: PiSession
    drafts: tuple[PreparedEntry, ...]

    @property
    def id(self) -> str:
        """The file's own id.

        Raises:
            MalformedLine: it cannot be that of a session.
        """
        name: str = self.file.header["id"]
        if not ids.is_id(name):
            detail = f"{name!r:.80} is not 1 to 128 of A-Z, a-z, 0-9 and ._~-, the first a letter or digit"
            raise MalformedLine(self.file.header_line, f"header.id: {detail}; give another id")
        return name

    @property
    def model(self) -> str:
        """The model in use at the leaf, as provider/name.

        Raises:
            InvalidPolicy: the file does not say.
            MalformedLine: it cannot be the name of one.
        """
        model = self.file.model
        if model is None:
            raise InvalidPolicy("model", "is not in the file; give one, as provider/name")
        if not ids.is_name(model):
            detail = f"{model!r:.80} is longer than 200 characters or has some that no name has"
            raise MalformedLine(self.file.model_line, f"model: {detail}; give another model")
        return model


def prepare(file: PiSession) -> Prepared:
    """Count what a file says and write its entries as they are kept, before any lock is taken.

    Raises:
        MalformedLine: an entry cannot be kept.
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
