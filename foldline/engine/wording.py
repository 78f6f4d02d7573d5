"""The texts that Foldline itself puts into a view, and their tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Final

import regex

from foldline.engine.tokens.counter import MESSAGE, RESULT, count_text
from foldline.engine.tokens.excerpts import boundary

# The next two are for results whose call is not known by name; `cleared` and `read_again` name the others.
CLEARED: Final = "[This tool output was cleared to make room. The original is kept.]"
# It does not depend on whether the later output is in view: a new read of the file must not change the start of a view,
# which providers cache.
READ_AGAIN: Final = "[This file was read again later; see below, if in view.]"
OLDER_IMAGE: Final = "[An older image was left out here to make room. The original is kept.]"
LARGE_IMAGE: Final = "[An image was left out here: the provider does not take one of this size. The original is kept.]"
UNANSWERED: Final = "[No result was recorded for this tool call.]"
# The lines around a tool result that came late or more than once, which views quote in a user message. Three digits
# take one token, so all such lines cost the same.
LATE: Final = "[Late result {:06}:]"
LATE_END: Final = "[/{:06}]"
# A hidden run without an interim summary; a plan counts it for every marker, so that none of those below is longer.
HIDDEN: Final = "[Some of the earlier messages are out of view. The originals are kept.]"
SUMMARY: Final = "[Summary of the earlier conversation. It is a record of what happened, not a new request:]"
BRANCH: Final = "[Summary of another branch of this conversation, which was left. It is a record, not a new request:]"
PINNED: Final = "[Pinned. Keep to this at all times:]"

# The names of tools and the paths of files in a placeholder. A model chose them, and what it has read may have made it:
# nothing in a name ends a line or its quotation marks, or is invisible.
LONGEST_NAME: Final = 64
LONGEST_PATH: Final = 80
_NOT_IN_NAMES: Final = regex.compile(r"[^\w./:-]|\p{Default_Ignorable_Code_Point}")
_NOT_IN_PATHS: Final = regex.compile(
    r"[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\p{Quotation_Mark}--']|[`\p{Default_Ignorable_Code_Point}\u2800]", regex.V1
)
CLEARED_NAMED: Final = re.compile(
    r'\[The output of \S+(?: "[^"]*")? was cleared to make room\. The original is kept\.\]'
)
READ_AGAIN_NAMED: Final = re.compile(r'\["[^"]*" was read again later; see below, if in view\.\]')

# How markers and interim summaries begin, with the number of their messages.
HIDDEN_BEGIN: Final = re.compile(r"\[(?:Some of the|\d+) earlier messages? (?:is|are) out of view\.")
INTERIM_BEGIN: Final = re.compile(r"\[Interim summary of \d+ earlier messages?\.")
# What stands above Foldline's own summaries, in a part of its own or in the same one.
FRAME: Final = re.compile(rf"{re.escape(SUMMARY)}|{re.escape(BRANCH)}|{INTERIM_BEGIN.pattern}[^\n]{{0,80}}")


def cleared(tool: str, path: str = "") -> str:
    """The placeholder for a cleared result of a tool, with the file that it read, if it read one."""
    name = _NOT_IN_NAMES.sub("_", tool[:LONGEST_NAME])
    named = f"{name} {_quoted(path)}" if path else name
    return f"[The output of {named} was cleared to make room. The original is kept.]"


def searchable(tool: str) -> str:
    """The line below a summary that names the tool with which its model searches what was said."""
    return f"[The tool {_NOT_IN_NAMES.sub('_', tool[:LONGEST_NAME])} quotes what was said in these messages.]"


def read_again(path: str) -> str:
    """The pointer that replaces a superseded read of this file."""
    return f"[{_quoted(path)} was read again later; see below, if in view.]"


def _quoted(path: str) -> str:
    """A path between quotation marks; of a long one, the last folders and the file's name."""
    end = path[boundary(path, max(0, len(path) - LONGEST_PATH)) :]
    if len(end) < len(path):
        end = f"…{end[max(0, end.find('/')) :]}"
    return f'"{_NOT_IN_PATHS.sub("_", end)}"'


def placeholder_tokens(tool: str, path: str = "") -> tuple[int, ...]:
    """Tokens of the placeholder and the pointer that name a call: () if its tool has no name, 0 for no pointer."""
    return _placeholder_tokens(tool[:LONGEST_NAME], path)


@lru_cache(maxsize=1024)
def _placeholder_tokens(tool: str, path: str) -> tuple[int, ...]:
    # Sessions name the same tools and files again and again.
    return placeholder_tokens_by(count_text, tool, path)


def placeholder_tokens_by(count: Callable[[str], int], tool: str, path: str) -> tuple[int, ...]:
    """The same by another counter."""
    return (count(cleared(tool, path)), count(read_again(path)) if path else 0) if tool else ()


@cache
def cleared_tokens() -> int:
    """Tokens of the placeholder for a cleared result whose call is not known by name."""
    return count_text(CLEARED)


@cache
def pointer_tokens() -> int:
    """Tokens of the pointer that replaces a superseded read whose call is not known by name."""
    return count_text(READ_AGAIN)


@cache
def older_image_tokens() -> int:
    """Tokens of the line that replaces an older image."""
    return count_text(OLDER_IMAGE)


@cache
def stub_tokens() -> int:
    """Tokens of the stub for a missing result, as a message."""
    return MESSAGE + RESULT + count_text(UNANSWERED)


_END_NUMBER: Final = re.compile(r"\[\s*/\s*(\d{6})\s*\]")


def late_number(quoted: str) -> int:
    """The number of the lines around a late result, so that this text of it does not end it; 0 if it has all ends."""
    taken = set(map(int, _END_NUMBER.findall(quoted)))
    return next((number for number in range(1, 1_000_000) if number not in taken), 0)


@cache
def late_tokens() -> int:
    """Tokens that quoting a late result costs beyond its tokens as a normal result."""
    return count_text(LATE.format(1)) + count_text(LATE_END.format(1)) - RESULT


@cache
def marker_tokens() -> int:
    """Tokens of the marker that replaces a run of hidden messages."""
    return MESSAGE + count_text(HIDDEN)


def hidden(messages: int) -> str:
    """The marker of a hidden run of so many messages, for which there is no room for an interim summary."""
    return f"[{_earlier(messages)} {'is' if messages == 1 else 'are'} out of view. The originals are kept.]"


def interim(messages: int) -> str:
    """What stands above the interim summary of a hidden run of so many messages."""
    return f"[Interim summary of {_earlier(messages)}. It is a record of what happened, not a new request:]"


def _earlier(messages: int) -> str:
    return f"{messages} earlier {'message' if messages == 1 else 'messages'}"


def interim_frame_tokens(messages: int) -> int:
    """Tokens of the message with the interim summary of a hidden run, without its text."""
    return MESSAGE + count_text(interim(messages))


def summary_tokens(text: str) -> int:
    """Tokens of the message that carries a summary's text."""
    return summary_frame_tokens() + count_text(text)


@cache
def summary_frame_tokens() -> int:
    """Tokens of a summary's message without its text."""
    return MESSAGE + count_text(SUMMARY)


def pins_tokens(pins: list[str]) -> int:
    """Tokens of the message that carries the pins; 0 if there are none."""
    return MESSAGE + count_text(pinned(pins)) if pins else 0


def pinned(pins: Sequence[str]) -> str:
    """The text that carries the pins verbatim."""
    return "\n".join((PINNED, *pins))


def is_frame(text: str) -> bool:
    """Whether a text is the line that stands above a summary, alone."""
    return FRAME.fullmatch(text) is not None


def is_framed(text: str) -> bool:
    """Whether a text begins with a line of ours, which says whose words follow."""
    return text.startswith(PINNED) or FRAME.match(text) is not None
