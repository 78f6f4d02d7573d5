"""Which file, and which lines of it, a tool call reads."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from compaction.messages import ToolCall
from compaction.wire import loads

READ_TOOLS: Final = frozenset(
    {"read", "readfile", "fileread", "view", "viewfile", "openfile", "cat", "getfilecontents"}
)
PATH_ARGUMENTS: Final = ("path", "file_path", "filePath", "filepath", "filename", "file_name", "file", "target_file")
START_ARGUMENTS: Final = ("offset", "start_line", "startLine", "line_start", "start")
COUNT_ARGUMENTS: Final = ("limit", "num_lines", "line_count")
END_ARGUMENTS: Final = ("end_line", "endLine", "line_end", "end")
LAST_LINE: Final = 1 << 53
# A call whose arguments are longer than this carries content, not a request to read.
LONGEST_ARGUMENTS: Final = 4_096


class Read(NamedTuple):
    """Lines `first` to `last` of the file at `path`, both included; `LAST_LINE` is the end of any file."""

    path: str
    first: int = 1
    last: int = LAST_LINE

    def covers(self, other: Read) -> bool:
        """Whether all that `other` reads is in this one."""
        return self.path == other.path and self.first <= other.first and self.last >= other.last


def read_of(call: ToolCall) -> Read | None:
    """What the call reads, if it is a structured call of a known read tool."""
    if (
        "".join(c for c in call.name.lower() if c.isalnum()) not in READ_TOOLS
        or len(call.arguments) > LONGEST_ARGUMENTS
    ):
        return None
    try:
        arguments = loads(call.arguments)
    except ValueError:
        return None
    if not isinstance(arguments, dict):
        return None
    path = next((arguments[key] for key in PATH_ARGUMENTS if isinstance(arguments.get(key), str)), None)
    return Read(path, *_lines(arguments)) if path else None


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
