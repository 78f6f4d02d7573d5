"""Which file a tool call reads, and which lines of it, or which one it changes; and all files of many calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from foldline.engine.arguments import json_object
from foldline.engine.messages import ToolCall

# Names of tools, as `tool_key` has them.
READ_TOOLS: Final = frozenset(
    {"read", "readfile", "fileread", "view", "viewfile", "openfile", "cat", "getfilecontents"}
)
CHANGE_TOOLS: Final = frozenset(
    {"edit", "write", "create", "multiedit", "strreplace", "insert", "applypatch", "patch", "writefile", "editfile"}
    | {"createfile", "deletefile", "replace", "strreplaceeditor", "strreplacebasededittool", "texteditor", "applydiff"}
    | {"notebookedit", "searchreplace", "replaceinfile", "update", "filewrite", "fileedit", "writetofile"}
)
# Editors with one name for all they do say in an argument which it is.
READING_COMMANDS: Final = frozenset({"view", "read", "open"})
PATH_ARGUMENTS: Final = ("path", "file_path", "filePath", "filepath", "filename", "file_name", "file", "target_file")
START_ARGUMENTS: Final = ("offset", "start_line", "startLine", "line_start", "start")
COUNT_ARGUMENTS: Final = ("limit", "num_lines", "line_count")
END_ARGUMENTS: Final = ("end_line", "endLine", "line_end", "end")
LAST_LINE: Final = 1 << 53
# A call whose arguments are longer than this carries content, not a request to read.
LONGEST_ARGUMENTS: Final = 4_096
# Paths are kept as facts, which stay small.
LONGEST_PATH: Final = 4_096


class Read(NamedTuple):
    """Lines `first` to `last` of the file at `path`, both included; `LAST_LINE` is the end of any file."""

    path: str
    first: int = 1
    last: int = LAST_LINE

    def covers(self, other: Read) -> bool:
        """Whether all that `other` reads is in this one."""
        return self.path == other.path and self.first <= other.first and self.last >= other.last


def tool_key(name: str) -> str:
    """A tool's name without what spellings differ in: case, underscores, hyphens."""
    return "".join(c for c in name.lower() if c.isalnum())


def read_of(call: ToolCall) -> Read | None:
    """What the call reads, if it is a structured call of a known read tool."""
    if tool_key(call.name) not in READ_TOOLS or len(call.arguments) > LONGEST_ARGUMENTS:
        return None
    arguments = json_object(call.arguments) or {}
    path = _path(arguments)
    return Read(path, *_lines(arguments)) if path else None


def change_of(call: ToolCall) -> str:
    """The path of the file the call changes; empty if it is no structured call of a known tool that changes one."""
    if tool_key(call.name) not in CHANGE_TOOLS:
        return ""
    arguments = json_object(call.arguments) or {}
    return "" if arguments.get("command") in READING_COMMANDS else _path(arguments)


@dataclass(frozen=True, slots=True)
class Files:
    """The paths that were read and those that were changed; a path may be both."""

    read: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()

    def __or__(self, other: Files) -> Files:
        """The files of both."""
        return Files(self.read | other.read, self.modified | other.modified)

    @property
    def read_only(self) -> list[str]:
        """What was read and not changed, sorted by UTF-16 code units, as JavaScript sorts."""
        return sorted(self.read - self.modified, key=_utf16)

    @property
    def changed(self) -> list[str]:
        """What was changed, sorted likewise."""
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
