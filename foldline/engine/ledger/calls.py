"""The items of tool calls and their results: files, plans, commands and what they led to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from foldline.engine.arguments import fields_of
from foldline.engine.files import CHANGE_TOOLS, PATH_ARGUMENTS, READ_TOOLS, READING_COMMANDS, tool_key
from foldline.engine.ledger.items import DOING, FIELDS, FIRST, LOOKS, OPEN, WRITTEN_CALL, Item, ItemKind, Speaker
from foldline.engine.ledger.reading import cues
from foldline.engine.ledger.reading.lines import clean, cut, flat, lines
from foldline.engine.ledger.section_lines import COMMAND
from foldline.engine.messages import ToolCall, ToolResult, result_text
from foldline.engine.wire import loads_bounded

# Names of tools that run commands, as `tool_key` spells them.
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
# Tools by which agents keep their plans, as `tool_key` spells them, and where their calls have the steps.
PLAN_TOOLS: Final = frozenset(
    {
        "todowrite",
        "updateplan",
        "writetodos",
        "todo",
        "todolist",
        "updatetodolist",
        "managetodolist",
        "plan",
        "settodolist",
        "taskupdate",
        "tasktracker",
    }
)
_STEP_TEXTS: Final = ("content", "step", "title", "task", "text", "description", "subject", "name")
_STEP_NOTES: Final = ("notes", "note", "details")
_DONE: Final = frozenset({"completed", "complete", "done", "cancelled", "canceled", "closed", "finished", "x"})
_UNDER_WAY: Final = frozenset(
    {"in_progress", "in-progress", "inprogress", "in progress", "doing", "active", "started", "now", "current"}
)
_WAITING: Final = frozenset({"", "pending", "todo", "to do", "open", "next", "later"})
_MARKED: Final = re.compile(
    r"\A(?:\d{1,3}[.)]|[-*])?\s{0,4}\[(?P<status>[\w -]{0,20})\]\s{0,4}(?P<text>\S.*)", re.DOTALL
)
_CHECKED: Final = re.compile(
    r"^[ \t]{0,8}(?:[-*]|\d{1,3}[.)])[ \t]{1,4}\[(?P<mark>[ xX~>-])\][ \t]{1,4}(?P<text>\S.{0,300})$", re.MULTILINE
)
_DELETED: Final = re.compile(r"\b(?:rm|git rm)[ ](?:-\S{1,8}[ ]){0,3}(?P<path>[\w~./@-]{2,200})")
_WRITTEN: Final = re.compile(
    r"(?:>>?[ ]?|\b(?:tee|touch|mkdir|git mv|mv \S{1,200}|cp(?: -\S{1,8})? \S{1,200}"
    r"|sed -i\S{0,8} (?:'[^'\n]{0,200}'|\S{1,200}))[ ](?:-\S{1,8}[ ]){0,3})"
    r"(?P<path>[\w~./@-]{2,200})"
)
_READ_BY_SHELL: Final = re.compile(
    r"\b(?:cat|head|tail|less|nl)[ ](?:-\S{1,8}[ ]|\d{1,6}[ ]){0,3}(?P<path>[\w~./@-]{2,200})"
)
_FENCED: Final = re.compile(r"```[a-z]{0,12}\n(?P<command>[^`]{1,4000})\n?```\s{0,8}\Z")
FENCED_CHARS: Final = 6_000
# A failure that stands later in what was looked at is part of what was read.
BEGINNING_CHARS: Final = 120
_PATCHED: Final = re.compile(r"^\*\*\* (?P<verb>Update|Add|Delete) File: (?P<path>\S{1,300})", re.MULTILINE)
_LOOKING_COMMAND: Final = re.compile(
    r"(?:(?:sudo|timeout \d{1,5}) )?(?:grep|rg|ag|find|fd|ls|cat|head|tail|less|nl|sed -n|wc"
    r"|git (?:log|status|diff|show|branch|blame)"
    r"|pwd|which|echo|tree|file|stat|du|sleep|type|open)\b"
)
_CHANGE_OF_FOLDER: Final = re.compile(r"^\s{0,8}cd [^&;\n]{1,200}(?:&&|;)\s{0,8}")
# A shell's prompt, which some environments print below every output.
_PROMPT: Final = re.compile(r"^[^\n]{0,80}[$#%>]$|^\([^\n]{1,300}\)$")
_COUNTED: Final = re.compile(
    r"\b\d{1,7} (?:passed|failed|failures?|errors?|warnings?|tests?|skipped|examples?)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)? \d{1,3}\b"
    r"|\b(?:succe(?:ss|eded)|deployed|pushed|published|built|compiled|finished|done in)\b",
    re.IGNORECASE,
)
COMMAND_CHARS: Final = 160
ENDING_CHARS: Final = 160
FIELDS_CHARS: Final = 320
READ_CHARS: Final = 2_000
# The lines at the end of an output that may say how it ended.
LAST_LINES: Final = 12
MOST_FIELDS: Final = 24
FIELD_CHARS: Final = 80
# A result with more text is content that was looked at, and no answer.
LONGEST_ANSWER: Final = 6_000


def call_items(call: ToolCall) -> Iterator[Item]:
    """The items of a call: the steps of a plan, the file that it reads or changes, or what it runs."""
    name = tool_key(call.name)
    arguments = fields_of(call.arguments)
    if name in PLAN_TOOLS:
        yield from _steps(call, arguments)
    elif name in THINKING_TOOLS:
        return
    elif name in SHELL_TOOLS:
        yield from _run(_command(arguments), call.id)
    elif name in READ_TOOLS or name in CHANGE_TOOLS:
        yield from _files(call, name, arguments)
    else:
        yield Item(
            ItemKind.CALL, f"{call.name} {_fields(arguments)}".strip(), Speaker.ASSISTANT, call.id, _look_of(call.name)
        )


def result_items(result: ToolResult) -> Iterator[Item]:
    """The items of a result: how the call ended, and the error it reports."""
    yield from output_items(result_text(result), result.call_id or "", is_error=result.is_error)


def output_items(text: str, call: str, *, is_error: bool = False) -> Iterator[Item]:
    """The items of what a call printed or answered."""
    failure, is_first = _failure(text, is_error=is_error)
    if failure:
        yield Item(ItemKind.FAILURE, failure, Speaker.TOOL, call, FIRST if is_first else "")
    fields = _json_fields(text) if text[:1] in "{[" and len(text) <= LONGEST_ANSWER else ""
    last = [] if fields else _last_lines(text)
    is_short = len(text) <= 3 * ENDING_CHARS
    answer = fields or _counted(last) or (cut(flat(last[0]), ENDING_CHARS) if last and is_short and not failure else "")
    if answer and answer != failure:
        look = FIELDS if fields else FIRST if len(last) == 1 else ""
        yield Item(ItemKind.ENDING, answer, Speaker.TOOL, call, look)
    elif not failure:
        yield Item(ItemKind.ENDING, "", Speaker.TOOL, call)


def written_command(text: str) -> Iterator[Item]:
    """The command in the fenced block at the end of a text, as agents without tool calls write them."""
    if match := _FENCED.search(text[-FENCED_CHARS:]):
        yield from _run(match["command"], WRITTEN_CALL)


def _run(command: str, call: str) -> Iterator[Item]:
    """The items of a shell command: itself, and the files that it reads or changes."""
    if shown := _shown_command(command):
        is_looking = _LOOKING_COMMAND.match(shown) is not None
        yield Item(ItemKind.CALL, f"{COMMAND}{shown}", Speaker.ASSISTANT, call, LOOKS if is_looking else "")
    yield from _shell_files(command, call)


def _look_of(name: str) -> str:
    return LOOKS if LOOKING.match(name) else ""


def _steps(call: ToolCall, arguments: Mapping[str, Any]) -> Iterator[Item]:
    """The steps of a plan that are not done, and an item for the plan itself."""
    yield Item(ItemKind.PLAN, "", Speaker.ASSISTANT, call.id, tool_key(call.name))
    listed = next((value for value in arguments.values() if isinstance(value, list)), None)
    if listed is None:
        texts = (value for value in arguments.values() if isinstance(value, str))
        for match in (match for text in texts for match in _CHECKED.finditer(text[:READ_CHARS])):
            if match["mark"] not in "xX":
                yield Item(
                    ItemKind.PLAN,
                    flat(match["text"]),
                    Speaker.ASSISTANT,
                    call.id,
                    OPEN if match["mark"] == " " else DOING,
                )
        return
    for text, status in map(_step, listed[: MOST_FIELDS * 4]):
        if text and status not in _DONE:
            shown = cut(flat(clean(text[:READ_CHARS])), ENDING_CHARS)
            yield Item(ItemKind.PLAN, shown, Speaker.ASSISTANT, call.id, DOING if status in _UNDER_WAY else OPEN)


def _step(listed: object) -> tuple[str, str]:
    """The text of a step in a list, with its notes, and its status."""
    if isinstance(listed, str):
        marked = _MARKED.match(listed[:READ_CHARS])
        status = marked["status"].strip().lower() if marked else ""
        # Anything else in brackets belongs to the step, such as a ticket.
        is_marked = marked and status in _DONE | _UNDER_WAY | _WAITING
        return (marked["text"], status) if marked and is_marked else (listed, "")
    if not isinstance(listed, dict):
        return "", ""
    text, notes = (
        next((listed[key] for key in keys if isinstance(listed.get(key), str)), "")
        for keys in (_STEP_TEXTS, _STEP_NOTES)
    )
    status = str(listed.get("status") or listed.get("state") or "").lower()
    return f"{text} ({notes})" if text and notes else text, status


def _files(call: ToolCall, name: str, arguments: Mapping[str, Any]) -> Iterator[Item]:
    path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str) and value.strip()), "")
    verb = "read"
    if name in CHANGE_TOOLS and arguments.get("command") not in READING_COMMANDS:
        verb = (
            "deleted"
            if "delete" in name
            else "created"
            if name in {"writefile", "createfile", "write", "create"}
            else "changed"
        )
    if path:
        yield _file(verb, path, call.id)
    else:
        texts = (value for value in arguments.values() if isinstance(value, str))
        verbs = {"Update": "changed", "Add": "created", "Delete": "deleted"}
        for match in (match for text in texts for match in _PATCHED.finditer(text)):
            yield _file(verbs[match["verb"]], match["path"], call.id)


def _file(verb: str, path: str, call: str) -> Item:
    kind = ItemKind.READ if verb == "read" else ItemKind.CHANGED
    return Item(kind, f"{verb} {cut(flat(clean(path[:READ_CHARS])), COMMAND_CHARS * 2)}", Speaker.ASSISTANT, call)


def _shell_files(command: str, call: str) -> Iterator[Item]:
    command = command[:READ_CHARS]
    for verb, pattern in (("deleted", _DELETED), ("changed", _WRITTEN), ("read", _READ_BY_SHELL)):
        for match in pattern.finditer(command):
            path = match["path"]
            if (
                ("/" in path or "." in path.strip("."))
                and not path.startswith(("/dev/", "-", "&"))
                and not path.strip(".").isdigit()
            ):
                yield _file(verb, path, call)


def _command(arguments: Mapping[str, Any]) -> str:
    for name in COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [str(word) for word in value]
            # `bash -lc COMMAND` is that command.
            return (
                words[2]
                if len(words) == len(("bash", "-lc", "command")) and words[1].startswith("-") and words[1].endswith("c")
                else " ".join(words)
            )
    return ""


def _shown_command(command: str) -> str:
    text = clean(command[: 4 * COMMAND_CHARS])
    text = _CHANGE_OF_FOLDER.sub("", text, count=1) or text
    return cut(flat(next(lines(text), "")), COMMAND_CHARS)


def _failure(text: str, *, is_error: bool) -> tuple[str, bool]:
    """The line that reports a failure, "" if none does, and whether the text begins with it."""
    for window in (text[:READ_CHARS], text[max(READ_CHARS, len(text) - READ_CHARS) :]):
        place = cues.failure_at(window)
        if place is not None:
            # A traceback says at its end what failed.
            last = _last_lines(text) if window[place : place + 9].lower() == "traceback" else ()
            line = last[0] if last else _whole_line_at(window, place)
            return cut(flat(line), ENDING_CHARS), place <= BEGINNING_CHARS and window[0] == text[0]
    return (cut(next(lines(clean(text[:READ_CHARS])), ""), ENDING_CHARS) if is_error else ""), True


def _whole_line_at(text: str, place: int) -> str:
    """The line at a place; if it only announces, with the next one."""
    line = _line_at(text, place)
    end = text.find("\n", place)
    after = (
        next(lines(clean(text[end : end + 4 * ENDING_CHARS])), "") if line.rstrip().endswith(":") and end >= 0 else ""
    )
    return f"{line} {after}" if after else line


def _line_at(text: str, place: int) -> str:
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    return clean(text[max(start, place - ENDING_CHARS) : end if end >= 0 else len(text)])


def _counted(last: Iterable[str]) -> str:
    """The line at the end of an output that counts or reports success."""
    return cut(flat(next(filter(_COUNTED.search, last), "")), ENDING_CHARS)


def _last_lines(text: str) -> list[str]:
    """The last lines of an output, the newest first, without prompts."""
    newest_first = reversed([*lines(clean(text[-READ_CHARS:]))])
    return list(islice((line for line in newest_first if not _PROMPT.search(line)), LAST_LINES))


def _json_fields(text: str) -> str:
    try:
        value = loads_bounded(text, 16)
    except ValueError:
        return ""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return _fields(value) if isinstance(value, dict) else ""


def _fields(value: Mapping[str, Any]) -> str:
    """The fields of an object on one line; those in objects inside it too."""
    shown: list[str] = []
    left = FIELDS_CHARS
    for key, field in _leaves(value):
        line = f"{key}={cut(flat(clean(str(field)[: 4 * FIELD_CHARS])), FIELD_CHARS)}"
        left -= len(line)
        if left < 0:
            break
        shown.append(line)
    return ", ".join(shown)


def _leaves(value: Mapping[str, Any], depth: int = 3) -> Iterator[tuple[str, Any]]:
    for key, field in list(value.items())[:MOST_FIELDS]:
        if isinstance(field, dict) and depth:
            yield from _leaves(field, depth - 1)
        elif isinstance(field, list) and depth and len(field) == 1 and isinstance(field[0], dict):
            yield from _leaves(field[0], depth - 1)
        elif isinstance(field, str | int | float) and field not in {"", None}:
            yield clean(str(key))[:40], field
        elif isinstance(field, list) and field and all(isinstance(each, str | int | float) for each in field[:4]):
            yield clean(str(key))[:40], "/".join(map(str, field[:6]))
