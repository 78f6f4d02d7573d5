"""The files of tool calls: the lines of a file that a call reads, and the file that a call changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import regex

from foldline.engine.arguments import fields_of
from foldline.engine.messages import ToolCall

# Names of tools, as `tool_key` spells them.
READ_TOOLS: Final = frozenset(
    {"read", "readfile", "fileread", "view", "viewfile", "openfile", "cat", "getfilecontents"}
)
CHANGE_TOOLS: Final = frozenset(
    {"edit", "write", "create", "multiedit", "strreplace", "insert", "applypatch", "patch", "writefile", "editfile"}
    | {"createfile", "deletefile", "replace", "strreplaceeditor", "strreplacebasededittool", "texteditor", "applydiff"}
    | {"notebookedit", "searchreplace", "replaceinfile", "update", "filewrite", "fileedit", "writetofile"}
)
# Some editors are one tool for reading and changing; the argument `command` says which.
READING_COMMANDS: Final = frozenset({"view", "read", "open"})
PATH_ARGUMENTS: Final = ("path", "file_path", "filePath", "filepath", "filename", "file_name", "file", "target_file")
START_ARGUMENTS: Final = ("offset", "start_line", "startLine", "line_start", "start")
COUNT_ARGUMENTS: Final = ("limit", "num_lines", "line_count")
END_ARGUMENTS: Final = ("end_line", "endLine", "line_end", "end")
LAST_LINE: Final = 1 << 53
# A call whose arguments are longer than this carries content, not a request to read.
LONGEST_ARGUMENTS: Final = 4_096
LONGEST_USUAL_NAME: Final = 64
# Paths are kept in facts, which must stay small.
LONGEST_PATH: Final = 4_096
# A first line that says which file an output shows: nothing stands after the path, because an output that begins with
# "Reading a.py, lines 1 to 20" does not show the whole file.
_SAID: Final = regex.compile(
    r"""(?:[$>]\s+)?(?:read(?:ing)?(?:[ _]?file)?|cat)\s+"""
    r"""(?P<quote>['"`]?)(?P<path>[^\s'"`]*[^\s'"`.:…])(?P=quote)[.:…]*\s*""",
    regex.IGNORECASE,
)
# Only a path names a file: it has a folder or an extension.
_PATH: Final = regex.compile(r".*/.*[^\W\d].*|.*\.[^\W\d]\w{0,9}")
LONGEST_SAID: Final = 300


class Read(NamedTuple):
    """A read of lines `first` to `last`, both included, of the file at `path`; `LAST_LINE` is the end of any file."""

    path: str
    first: int = 1
    last: int = LAST_LINE

    def covers(self, other: Read) -> bool:
        """Whether this read includes every line of `other`."""
        return self.path == other.path and self.first <= other.first and self.last >= other.last


def tool_key(name: str) -> str:
    """A tool's name in lower case, without underscores and hyphens, so that its spellings compare equal."""
    return _usual_key(name) if len(name) <= LONGEST_USUAL_NAME else _key(name)


def _key(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


# A session names few tools, again and again.
_usual_key: Final = lru_cache(maxsize=512)(_key)


def read_of(call: ToolCall) -> Read | None:
    """The read that a call makes; None unless it is a structured call of a known read tool."""
    if tool_key(call.name) not in READ_TOOLS or len(call.arguments) > LONGEST_ARGUMENTS:
        return None
    arguments = fields_of(call.arguments)
    path = _path(arguments)
    return Read(path, *_lines(arguments)) if path else None


def change_of(call: ToolCall) -> str:
    """The path of the file that a call changes; empty unless it is a structured call of a known tool that does so."""
    if tool_key(call.name) not in CHANGE_TOOLS:
        return ""
    arguments = fields_of(call.arguments)
    return "" if arguments.get("command") in READING_COMMANDS else _path(arguments)


def said_path(output: str) -> str:
    """The path of the file that an output shows according to its first line; empty if that line says nothing else."""
    line = output.lstrip()[: LONGEST_SAID + 1].partition("\n")[0]
    said = _SAID.fullmatch(line) if len(line) <= LONGEST_SAID else None
    path = said["path"] if said else ""
    return path if _PATH.fullmatch(path) else ""


@dataclass(frozen=True, slots=True)
class Files:
    """The paths that were read and the paths that were changed; a path may be both."""

    read: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()

    def __or__(self, other: Files) -> Files:
        """The files of both."""
        return Files(self.read | other.read, self.modified | other.modified)

    @property
    def read_only(self) -> list[str]:
        """The paths that were read and not changed, sorted by UTF-16 code units as in JavaScript."""
        return sorted(self.read - self.modified, key=_utf16)

    @property
    def changed(self) -> list[str]:
        """The paths that were changed, in the same order."""
        return sorted(self.modified, key=_utf16)


def _utf16(path: str) -> bytes:
    return path.encode("utf-16-be", "surrogatepass")


def _path(arguments: dict[str, Any]) -> str:
    path = next((arguments[key] for key in PATH_ARGUMENTS if isinstance(arguments.get(key), str)), "")
    return path if len(path) <= LONGEST_PATH else ""


def _lines(arguments: dict[str, Any]) -> tuple[int, int]:
    view_range = arguments.get("view_range")
    if isinstance(view_range, list) and all(_is_line(line) for line in view_range):
        first, last = (*view_range, 1, LAST_LINE)[:2]
        return first, last if last > 0 else LAST_LINE
    first = _first_line(arguments, START_ARGUMENTS) or 1
    if count := _first_line(arguments, COUNT_ARGUMENTS):
        return first, first + count - 1
    return first, _first_line(arguments, END_ARGUMENTS) or LAST_LINE


def _first_line(arguments: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((arguments[name] for name in names if _is_line(arguments.get(name)) and arguments[name] > 0), None)


def _is_line(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
