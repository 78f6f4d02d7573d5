"""Reads transcripts from a file: JSON Lines with one session a line, or one JSON document that is one session.

A session is a list of messages, or an object with `messages` and optionally `id`, `system`, `tools`, `format`. Errors
name the line. A session without an `id` is named after the file, and its line where the file has several.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS, detect
from foldline.engine.wire import TooDeep, loads_bounded
from foldline.terminal import CommandFailed

JsonDict = dict[str, Any]
LINES_SUFFIXES = frozenset({".jsonl", ".ndjson"})
STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session as its agent recorded it: `messages` in `format`, a leading system message moved to `system`."""

    id: str
    format: str
    messages: list[JsonDict]
    system: str | None = None
    tools: tuple[JsonDict, ...] = ()


def read_transcripts(path: Path, format_name: str | None = None) -> list[Transcript]:
    """All sessions of a file, or of stdin for `-`; without `format_name` each one's format is detected.

    Raises:
        CommandFailed: the file cannot be read, is not JSON, or has a value that is not a session; the message names
            the line and the place in it.
    """
    values = list(_values(path))
    name = "stdin" if path == STDIN else path.stem
    return [
        _transcript(value, where, name if len(values) == 1 else where.rpartition("/")[2], format_name)
        for where, value in values
    ]


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    text = _text(path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise CommandFailed(f"{path} is empty; expected one session a line, or one JSON transcript")
    if path.suffix in LINES_SUFFIXES or _is_json(lines[0][1]):
        for number, line in lines:
            where = f"{path}, line {number}"
            value = _parsed(line, where, "column {error.colno}")
            _refuse_pi(value, where)
            yield where, value
    else:
        yield str(path), _parsed(text, str(path), "line {error.lineno}, column {error.colno}")


def _text(path: Path) -> str:
    try:
        return bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{path} is not UTF-8 text (byte {error.start}); is it compressed?") from error


def bytes_of(path: Path) -> bytes:
    """The content of a file, or of stdin for `-`.

    Raises:
        CommandFailed: the file cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise CommandFailed(f"cannot read {path}: {error.strerror}") from error


def _refuse_pi(value: Any, where: str) -> None:
    """Refuse a session file of pi by its first line, before the other lines are parsed."""
    if isinstance(value, dict) and value.get("type") == "session" and "messages" not in value:
        raise CommandFailed(f"{where}: this is a session file of pi; use `foldline import`")


def _is_json(line: str) -> bool:
    try:
        loads_bounded(line)
    except TooDeep:
        return True
    except ValueError:
        return False
    return True


def _parsed(text: str, where: str, place: str) -> Any:
    try:
        return loads_bounded(text)
    except json.JSONDecodeError as error:
        raise CommandFailed(f"{where}, {place.format(error=error)}: not JSON: {error.msg}") from error
    except ValueError as error:
        raise CommandFailed(f"{where}: {error}") from error


def _transcript(value: Any, where: str, name: str, format_name: str | None) -> Transcript:
    record = {"messages": value} if isinstance(value, list) else value
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        raise CommandFailed(f"{where}: not a session: expected a list of messages, or an object with `messages`")
    messages: list[JsonDict] = record["messages"]
    format_name = _format_name(format_name or record.get("format"), messages, where)
    _validated(messages, format_name, where)
    system, rest = _split_system(record.get("system"), messages)
    return Transcript(
        id=str(record.get("id") or name),
        format=format_name,
        messages=rest,
        system=system,
        tools=tuple(record.get("tools") or ()),
    )


def _format_name(given: Any, messages: list[JsonDict], where: str) -> str:
    if given is None:
        return _validated_shapes(messages, where)
    if given not in FORMATS:
        raise CommandFailed(f"{where}: unknown format {given!r}; expected one of {', '.join(FORMATS)}")
    return str(given)


def _validated_shapes(messages: list[JsonDict], where: str) -> str:
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise CommandFailed(f"{where}: messages[{index}]: expected an object, got {type(message).__name__}")
    return detect(messages)


def _validated(messages: list[JsonDict], format_name: str, where: str) -> None:
    try:
        FORMATS[format_name].parse(messages)
    except InvalidMessage as error:
        raise CommandFailed(f"{where}: {error} (read as {format_name}; `--format` reads it as another)") from error


def _split_system(given: Any, messages: list[JsonDict]) -> tuple[str | None, list[JsonDict]]:
    """The system prompt, which may be a leading system message, and the other messages."""
    if given is None and messages and messages[0].get("role") == "system":
        return system_text(messages[0].get("content")), messages[1:]
    return (None if given is None else system_text(given)), messages


def system_text(content: Any) -> str:
    """The text of a system prompt, which formats give as a string or as a list of text parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
