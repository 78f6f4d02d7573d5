"""The activity of tool calls: the files they read or changed, the commands they ran, and how each ended last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.engine.arguments import json_object
from foldline.engine.files import CHANGE_TOOLS, PATH_ARGUMENTS, READ_TOOLS, READING_COMMANDS, tool_key
from foldline.engine.messages import ToolCall, ToolResult, result_text
from foldline.engine.summaries.extractive import cues
from foldline.engine.summaries.extractive.lines import clean, cut, flat, lines

# Names of tools, without case, underscores and hyphens.
SHELL_TOOLS: Final = frozenset(
    {
        "bash",
        "shell",
        "terminal",
        "run",
        "exec",
        "execute",
        "runcommand",
        "executecommand",
        "executebash",
        "execcommand",
    }
    | {
        "cmd",
        "command",
        "sh",
        "powershell",
        "runshellcommand",
        "runterminalcmd",
        "runinterminal",
        "localshell",
        "console",
    }
)
COMMAND_ARGUMENTS: Final = ("command", "cmd", "script", "commands", "code", "input")
# Names of tools that only read; a call of any other may have changed something.
LOOKING: Final = re.compile(
    r"^(?:get|list|search|find|fetch|look|read|show|describe|query|calculate|glob|grep|ls|view|web|open|check|task_?output)",
    re.IGNORECASE,
)
THINKING_TOOLS: Final = frozenset({"think", "thought", "sequentialthinking", "reflect"})

COMMAND_CHARS: Final = 200
OUTCOME_CHARS: Final = 240
# Errors stand at the beginning or the end of an output; this many characters of each are read.
WINDOW_CHARS: Final = 1_500
LOOK_CHARS: Final = 120
ARROW: Final = " → "
BELOW: Final = "below"
# In a list below a folder, paths that are relative to the working directory begin with this.
BESIDE: Final = "./"
ROOTS: Final = ("/", "~")
# A folder is named once instead of in each path if it is deep enough and holds enough of the paths.
FOLDER_CHARS: Final = 200
MOST_OF: Final = 0.7
LEAST_HELD: Final = 3
LEAST_DEPTH: Final = 2
NO_OUTPUT: Final = "(no output)"

_CHANGED_BY_SHELL: Final = re.compile(
    r"(?:>>?[ ]?|\b(?:tee|touch|rm|mv|git (?:rm|mv)|sed -i\S{0,8})[ ](?:-\S{1,8}[ ]){0,3})(?P<path>[\w~./@-]{2,200})"
)
_COPIED_BY_SHELL: Final = re.compile(r"\bcp[ ](?:-\S{1,8}[ ]){0,3}\S{1,200}[ ](?P<path>[\w~./@-]{2,200})")
_READ_BY_SHELL: Final = re.compile(
    r"\b(?:cat|head|tail|less|nl)[ ](?:-\S{1,8}[ ]|\d{1,6}[ ]){0,3}(?P<path>[\w~./@-]{2,200})"
)
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (?P<path>\S{1,300})", re.MULTILINE)
# A shell prompt, which some environments print below every output.
_SHELL_PROMPT: Final = re.compile(r"^[^\n]{0,80}[$#%>]$|^\([^\n]{1,300}\)$")
_LOOKING_COMMAND: Final = re.compile(
    r"\$ (?:(?:sudo|timeout \d+) )?(?:grep|rg|ag|find|fd|ls|cat|head|tail|less|nl|sed -n|wc"
    r"|git (?:log|status|diff|show|branch|blame)|pwd|which"
    r"|echo|tree|file|stat|du|sleep|type|open)\b"
)
_CHANGE_OF_FOLDER: Final = re.compile(r"^\s*cd [^&;\n]{1,200}(?:&&|;)\s*")


@dataclass(slots=True)
class File:
    """The use of a file: the order of the last call on it, the number of calls, and whether it was changed."""

    order: int
    is_changed: bool = False
    times: int = 0


@dataclass(slots=True)
class Ending:
    """A command or call, and how it ended: its last failure, and the result of its last run that did not fail.

    `is_looking`: it only reads. `is_file`: it is a call of a tool that reads or changes a file.
    """

    shown: str
    order: int
    is_shell: bool
    is_looking: bool
    is_file: bool = False
    failure: str = ""
    outcome: str = ""
    is_failing: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the command or call is known."""
        return any(map(str.isalnum, self.shown))

    @property
    def line(self) -> str:
        """The command, its failure if it ever had one, and its last result unless that is a failure."""
        pieces = [self.shown, self.failure, "" if self.is_failing else self.outcome]
        return ARROW.join(piece for piece in pieces if piece)


@dataclass(slots=True)
class Activity:
    """The calls and results so far; for each path and command the newest information counts.

    `endings` are by command, `waiting` by the id of a call without a result.
    """

    files: dict[str, File] = field(default_factory=dict)
    endings: dict[str, Ending] = field(default_factory=dict)
    waiting: dict[str, Ending] = field(default_factory=dict)

    def call(self, call: ToolCall, order: int) -> str | None:
        """Add a call; the answer is its thought if the tool is only for thinking, else None."""
        arguments = json_object(call.arguments) or {}
        name = tool_key(call.name)
        if name in THINKING_TOOLS:
            return next((value for value in arguments.values() if isinstance(value, str)), None)
        command = _command(arguments) if name in SHELL_TOOLS else None
        self._note_files(name, arguments, command, order)
        is_file = name in CHANGE_TOOLS or name in READ_TOOLS
        shown = _shown(call, arguments, command)
        is_looking = is_file or bool((LOOKING if command is None else _LOOKING_COMMAND).match(shown))
        fresh = Ending(shown, order, is_shell=command is not None, is_looking=is_looking, is_file=is_file)
        self.waiting[call.id] = self.endings.setdefault(shown, fresh)
        return None

    def result(self, result: ToolResult, order: int) -> None:
        """Add a result to the call that it answers."""
        ending = self.waiting.pop(result.call_id or "", None)
        if ending is not None:
            self._end(ending, result_text(result), order, is_error=result.is_error)

    def run(self, command: str, output: str, order: int) -> None:
        """Add a command that was written in plain text, and its output."""
        self._shell_files(command, order)
        shown = _shown_command(command)
        ending = Ending(shown, order, is_shell=True, is_looking=bool(_LOOKING_COMMAND.match(shown)))
        self._end(self.endings.setdefault(ending.shown, ending), output, order, is_error=False)

    def touch(self, path: str, order: int, *, is_changed: bool) -> None:
        """Add a read or a change of a file."""
        file = self.files.setdefault(path, File(order))
        file.order = max(order, file.order)
        file.is_changed |= is_changed
        file.times += 1

    def _end(self, ending: Ending, output: str, order: int, *, is_error: bool) -> None:
        failure = _look_failure(output) if ending.is_looking else _failure(output)
        if is_error and failure is None:
            failure = _first_line(output)
        ending.order = order
        ending.is_failing = failure is not None
        if failure is not None:
            ending.failure = failure
        else:
            ending.outcome = _last_line(output) if ending.is_shell else _first_line(output)

    def _note_files(self, name: str, arguments: dict[str, Any], command: str | None, order: int) -> None:
        if command is not None:
            self._shell_files(command, order)
            return
        path = _path(arguments)
        if name in CHANGE_TOOLS:
            is_changed = arguments.get("command") not in READING_COMMANDS
            for changed in [path] if path else _patched(arguments):
                self.touch(changed, order, is_changed=is_changed)
        elif path and name in READ_TOOLS:
            self.touch(path, order, is_changed=False)

    def _shell_files(self, command: str, order: int) -> None:
        command = command[:WINDOW_CHARS]
        for pattern in (_CHANGED_BY_SHELL, _COPIED_BY_SHELL):
            for match in pattern.finditer(command):
                if _is_path(match["path"]):
                    self.touch(match["path"], order, is_changed=True)
        for match in _READ_BY_SHELL.finditer(command):
            if _is_path(match["path"]):
                self.touch(match["path"], order, is_changed=False)


def common_folder(paths: Iterable[str]) -> str:
    """The deepest folder of most of the absolute paths, with a slash at its end; empty if naming it saves little."""
    absolute = [path for path in paths if path.startswith("/")]
    holders: Counter[str] = Counter()
    for path in absolute:
        holders.update(path[: place + 1] for place, character in enumerate(path[:FOLDER_CHARS]) if character == "/")
    common = [folder for folder, held in holders.items() if held >= MOST_OF * len(absolute) and held >= LEAST_HELD]
    folder = max(common, key=len, default="")
    return folder if folder.count("/") > LEAST_DEPTH else ""


def _failure(output: str) -> str | None:
    """The line of an output that reports a failure; None if there is none."""
    for window in (output[:WINDOW_CHARS], output[max(WINDOW_CHARS, len(output) - WINDOW_CHARS) :]):
        if match := cues.FAILURE.search(window) or cues.FAILURE_COUNT.search(window):
            return _line_at(window, match.start())
    return None


def _look_failure(output: str) -> str | None:
    """The failure of a call that only reads. The text it reads may name errors, so only its beginning counts."""
    match = cues.FAILURE.match(output[:LOOK_CHARS])
    return _line_at(output[:WINDOW_CHARS], match.start()) if match else None


def _line_at(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)]
    # If the line is very long before the error, the text begins at the error.
    shown = line if place - start < OUTCOME_CHARS else text[place : end if end >= 0 else len(text)]
    return cut(flat(clean(shown)), OUTCOME_CHARS)


def _first_line(output: str) -> str:
    line = next(lines(clean(output[:WINDOW_CHARS])), NO_OUTPUT)
    return cut(line, OUTCOME_CHARS)


def _last_line(output: str) -> str:
    shown = [line for line in lines(clean(output[-WINDOW_CHARS:])) if not _SHELL_PROMPT.search(line)]
    return cut(shown[-1] if shown else NO_OUTPUT, OUTCOME_CHARS)


def _command(arguments: dict[str, Any]) -> str:
    for name in COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return " ".join(str(word) for word in value)
    return ""


def _shown(call: ToolCall, arguments: dict[str, Any], command: str | None) -> str:
    if command is not None:
        return _shown_command(command)
    path = _path(arguments)
    rest = path or ("" if call.arguments.strip() in {"", "{}"} else call.arguments)
    return f"{call.name} {cut(flat(clean(rest[: 4 * COMMAND_CHARS])), COMMAND_CHARS)}".strip()


def _shown_command(command: str) -> str:
    text = clean(command[: 4 * COMMAND_CHARS])
    text = _CHANGE_OF_FOLDER.sub("", text, count=1) or text
    return f"$ {cut(next(lines(text), ''), COMMAND_CHARS)}"


def _path(arguments: dict[str, Any]) -> str | None:
    values = (arguments.get(key) for key in PATH_ARGUMENTS)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _patched(arguments: dict[str, Any]) -> list[str]:
    texts = (value for value in arguments.values() if isinstance(value, str))
    return [match["path"] for text in texts for match in _PATCHED.finditer(text)]


def _is_path(text: str) -> bool:
    is_named = "/" in text or ("." in text.strip(".") and not text.replace(".", "").isdigit())
    return is_named and not text.startswith(("/dev/", "-")) and any(character.isalnum() for character in text)
