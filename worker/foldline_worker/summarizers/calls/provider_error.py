"""Excerpts of a provider's error messages that are safe to log: short, without keys and without the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from foldline.engine.wire import loads_bounded

MOST_CHARS: Final = 200
# Providers quote the prompt: between quotation marks, or as a run of at least this many characters.
QUOTED_CHARS: Final = 16
LEFT_OUT: Final = "…"

_QUOTED: Final = re.compile(r"(?P<mark>['\"`])(?P<inside>.+?)(?P=mark)")

_KEY: Final = re.compile(
    r"\bBearer\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.\-]{3,}"
    # A key of unknown form: unlike names of models and parameters, it is not made of words with dashes.
    r"|(?=\w*[\d*])[A-Za-z0-9*]{20,}",
    re.IGNORECASE,
)


def excerpt_of(body: str, sent: Iterable[str], key: str | None) -> str:
    """The message of an error body in at most `MOST_CHARS` characters, or "" if there is none.

    `sent` are the texts of the refused request. The excerpt has nothing of them, and no key, in particular not `key`.
    """
    # A longer message is cut off anyway, and the comparison with the prompt needs a short one.
    message = _squeezed(_message(body))[: 4 * MOST_CHARS]
    if key:
        message = message.replace(key, LEFT_OUT)
    message = _without(_KEY.sub(LEFT_OUT, message), "\n".join(map(_squeezed, sent)))
    return message if len(message) <= MOST_CHARS else message[: MOST_CHARS - 1] + LEFT_OUT


def _message(body: str) -> str:
    try:
        value: Any = loads_bounded(body.encode())
    except ValueError:
        return ""
    error = value.get("error") if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _squeezed(text: str) -> str:
    """The text on one line, without unprintable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _without(message: str, sent: str) -> str:
    """The message without quotations of `sent`, and without the runs of characters that both share."""
    message = _QUOTED.sub(lambda quoted: LEFT_OUT if quoted["inside"] in sent else quoted[0], message)
    starts = range(len(message) - QUOTED_CHARS + 1)
    shared = {at for start in starts if message[start : start + QUOTED_CHARS] in sent for at in _run(start)}
    kept = "".join("\0" if at in shared else character for at, character in enumerate(message))
    return re.sub("\0+", LEFT_OUT, kept)


def _run(start: int) -> range:
    return range(start, start + QUOTED_CHARS)
