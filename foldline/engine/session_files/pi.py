"""pi's session files, versions 1 to 3: JSON Lines with a header and a tree of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from foldline.engine.errors import CompactionError, InvalidMessage
from foldline.engine.files import Files
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text
from foldline.engine.formats.marks import is_blank
from foldline.engine.messages import Message
from foldline.engine.session_files.pi_messages import USAGE, an_optional_integer, message_of
from foldline.engine.session_files.trees import path_to, tree_of
from foldline.engine.wire import dumps_text, loads_bounded

Kind: TypeAlias = Literal["message", "compaction", "branch_summary", "other"]

# Entries of version 1 have no ids; each follows the one before it.
LINEAR_VERSION: Final = 1
VERSIONS: Final = range(LINEAR_VERSION, 4)
# Stop reasons of answers whose reported usage is not reliable.
FAILED: Final = frozenset({"aborted", "error"})
TOTAL: Final = "totalTokens"
BYTE_ORDER_MARK: Final = "\ufeff"

_KINDS: Final[Mapping[str, Kind]] = {
    "message": "message",
    "custom_message": "message",
    "compaction": "compaction",
    "branch_summary": "branch_summary",
}
_FIELDS: Final[Mapping[str, Mapping[str, Callable[[Any, str], object]]]] = {
    "session": {
        "id": a_text,
        **dict.fromkeys(("timestamp", "cwd", "provider", "modelId", "thinkingLevel"), an_optional_text),
    },
    "compaction": {
        "summary": a_text,
        "firstKeptEntryId": an_optional_text,
        "firstKeptEntryIndex": an_optional_integer,
        "tokensBefore": an_optional_integer,
    },
    "branch_summary": {"fromId": an_optional_text, "summary": a_text},
    "model_change": {"provider": a_text, "modelId": a_text},
}


class MalformedLine(CompactionError):
    """A line of a session file is malformed. `line` is its number, from 1, blank lines included."""

    def __init__(self, line: int, detail: str) -> None:
        super().__init__(f"line {line}: {detail}")
        self.line = line
        self.detail = detail


class PiEntry(NamedTuple):
    """An entry of the tree; `source` is the JSON object of its line.

    `kind` is `other` for entries that no model sees; only a `message` entry has a message. Entries of version 1 get an
    id from their line, and the entry before them as parent. `first_kept` is the oldest entry that a compaction leaves
    as it is; it is the compaction itself if that leaves none. It is None if the file names no entry up to the
    compaction. pi then keeps nothing before the compaction, as if it named itself.
    """

    id: str
    parent: str | None
    kind: Kind
    source: dict[str, Any]
    line: int
    first_kept: str | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class PiSession:
    """A session file: its header with the header's line, and its entries in order; each comes after its parent."""

    header: dict[str, Any]
    entries: tuple[PiEntry, ...]
    header_line: int = 1

    @property
    def version(self) -> int:
        return _version(self.header)

    @property
    def leaf(self) -> str | None:
        """The id of the last entry, where the conversation continues; None if there are no entries."""
        return self.entries[-1].id if self.entries else None

    @property
    def model(self) -> str | None:
        """The model in use at the leaf, as provider/name; None if the file does not say."""
        return self._model_and_line[0]

    @property
    def model_line(self) -> int:
        """The line that names this model; the header's line if none does."""
        return self._model_and_line[1]

    @property
    def _model_and_line(self) -> tuple[str | None, int]:
        models = ((_model_of(entry.source), entry.line) for entry in reversed(self.path))
        in_header = _model_name(self.header, "modelId"), self.header_line
        return next((found for found in models if found[0]), in_header)

    @property
    def path(self) -> list[PiEntry]:
        """The entries from the root to the leaf."""
        return path_to(tree_of(self.entries), self.leaf)


def _version(header: Mapping[str, Any]) -> int:
    version: int = header.get("version", LINEAR_VERSION)
    return version


def _model_of(source: Mapping[str, Any]) -> str | None:
    if source["type"] == "model_change":
        return _model_name(source, "modelId")
    return _model_name(_said_by_assistant(source), "model")


def _model_name(named: Mapping[str, Any], key: str) -> str | None:
    provider, model = named.get("provider"), named.get(key)
    return f"{provider}/{model}" if provider and model else None


def _said_by_assistant(source: Mapping[str, Any]) -> dict[str, Any]:
    """The message of an entry if it is an assistant's, else an empty dict."""
    said: dict[str, Any] = source["message"] if source["type"] == "message" else {}
    return said if said.get("role") == "assistant" else {}


def read(text: str | bytes) -> PiSession:
    """The session in the text of a file. A compaction without a valid first kept entry is accepted, see `PiEntry`.

    Raises:
        MalformedLine: the file is not UTF-8; a line is no JSON object with a type; the header is missing, repeated or
            of an unknown version; an id is missing or repeated; a parent is no earlier entry; a message, a summary or
            another value is missing or of a wrong type.
    """
    lines = enumerate(decoded(text).split("\n"), 1)
    rows = ((line, _json_object(written, line)) for line, written in lines if not is_blank(written))
    header_line, header = next(rows, (1, None))
    if header is None:
        raise MalformedLine(header_line, "the file is empty; it should begin with a session header")
    with _at(header_line):
        tree = _Tree(is_linear=_checked_version(header) == LINEAR_VERSION)
    for line, source in rows:
        with _at(line):
            tree.add(source, line)
    return PiSession(header, tuple(tree.entries), header_line)


@contextmanager
def _at(line: int) -> Iterator[None]:
    """Raise the errors about a line's object with the number of the line."""
    try:
        yield
    except InvalidMessage as error:
        raise MalformedLine(line, str(error)) from error


def decoded(text: str | bytes) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        MalformedLine: it is not UTF-8.
    """
    return (text if isinstance(text, str) else _text(text)).removeprefix(BYTE_ORDER_MARK)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise MalformedLine(content.count(b"\n", 0, error.start) + 1, f"not UTF-8: {error.reason}") from error


def _json_object(written: str, line: int) -> dict[str, Any]:
    try:
        return an_object(loads_bounded(written), "entry")
    except JSONDecodeError as error:
        raise MalformedLine(line, f"not JSON at column {error.colno}: {error.msg}") from error
    except (ValueError, InvalidMessage) as error:
        raise MalformedLine(line, str(error)) from error


def _checked_version(header: Mapping[str, Any]) -> int:
    if a_kind(header, "header") != "session":
        raise InvalidMessage("header.type", "the first line should be a session header")
    _check_fields(header, "header")
    version = _version(header)
    if type(version) is not int or version not in VERSIONS:
        raise InvalidMessage("header.version", f"{version!r:.40} is not known; {VERSIONS[0]} to {VERSIONS[-1]} are")
    return version


def _check_fields(source: Mapping[str, Any], where: str) -> None:
    for name, check in _FIELDS.get(source["type"], {}).items():
        check(source.get(name), f"{where}.{name}")


class _Tree:
    """The entries read so far, which later ones may name."""

    def __init__(self, *, is_linear: bool) -> None:
        self.entries: list[PiEntry] = []
        self._is_linear = is_linear
        # Version 1 names entries by their index, and the header has index 0.
        self._names: list[str | None] = [None]
        self._ids: set[str] = set()

    def add(self, source: dict[str, Any], line: int) -> None:
        kind, message = _read(source)
        _check_fields(source, "entry")
        name, parent = (f"line-{line}", self._names[-1]) if self._is_linear else self._place(source)
        self._names.append(name)
        self._ids.add(name)
        first_kept = self._first_kept(source) if kind == "compaction" else None
        self.entries.append(PiEntry(name, parent, kind, source, line, first_kept, message))

    def _place(self, source: Mapping[str, Any]) -> tuple[str, str | None]:
        name = a_text(source.get("id"), "entry.id")
        parent = an_optional_text(source.get("parentId"), "entry.parentId")
        if not name or name in self._ids:
            raise InvalidMessage("entry.id", f"{name!r:.80} is empty or the id of an earlier entry")
        if parent is not None and parent not in self._ids:
            raise InvalidMessage("entry.parentId", f"{parent!r:.80} is the id of no earlier entry")
        return name, parent

    def _first_kept(self, source: Mapping[str, Any]) -> str | None:
        if self._is_linear:
            index = source.get("firstKeptEntryIndex") or 0
            return self._names[index] if 0 <= index < len(self._names) else None
        name = source.get("firstKeptEntryId")
        return name if name in self._ids else None


def _read(source: dict[str, Any]) -> tuple[Kind, Message | None]:
    type_ = a_kind(source, "entry")
    if type_ == "session":
        raise InvalidMessage("entry.type", "a second session header")
    kind = _KINDS.get(type_, "other")
    if kind != "message":
        return kind, None
    message = message_of(source, "entry")
    return ("other", None) if _is_kept_from_the_model(source.get("message", {})) else (kind, message)


def _is_kept_from_the_model(said: Mapping[str, Any]) -> bool:
    return said.get("role") == "bashExecution" and said.get("excludeFromContext") is True


def reported_tokens(source: Mapping[str, Any]) -> int:
    """The tokens that the provider reported with the answer in a `message` entry: all prompt tokens and the output.

    0 for any other entry, for an answer that failed, and without a report.
    """
    if _said_by_assistant(source).get("stopReason") in FAILED:
        return 0
    usage = usage_of(source)
    return max(0, usage.get(TOTAL) or sum(usage.get(name, 0) for name in USAGE))


def usage_of(source: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of tokens in the usage report of an entry's answer, by their names in the file."""
    usage = _said_by_assistant(source).get("usage") or {}
    return {name: usage[name] for name in (*USAGE, TOTAL) if usage.get(name) is not None}


def details_of(source: Mapping[str, Any]) -> Files:
    """The files that pi listed with a compaction or a branch summary; none if an extension made the entry."""
    details = source.get("details")
    if source.get("fromHook") is True or not isinstance(details, dict):
        return Files()
    return Files(*(_paths(details.get(name)) for name in ("readFiles", "modifiedFiles")))


def _paths(value: Any) -> frozenset[str]:
    is_list_of_texts = isinstance(value, list) and all(isinstance(path, str) for path in value)
    return frozenset(value if is_list_of_texts else ())


def write(header: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> str:
    """The text of a session file: the header and the sources of its entries, one on each line."""
    return "".join(f"{dumps_text(dict(row))}\n" for row in (header, *entries))
