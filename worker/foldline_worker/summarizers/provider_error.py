"""What a provider says of a call it refused, made safe to show: short, without keys and without what it was sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from foldline.engine.wire import loads_bounded

MOST_CHARS: Final = 200
# Providers quote what they refuse: between quotation marks, or as a run this long that the prompt has too.
QUOTED_CHARS: Final = 16
LEFT_OUT: Final = "…"

_QUOTED: Final = re.compile(r"(?P<mark>['\"`])(?P<inside>.+?)(?P=mark)")

_KEY: Final = re.compile(
    r"\bBearer\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.\-]{3,}"
    # Names of models and of parameters are words with dashes between them; keys of no known form are not.
    r"|(?=\w*[\d*])[A-Za-z0-9*]{20,}",
    re.IGNORECASE,
)


def excerpt_of(body: str, sent: Iterable[str], key: str | None) -> str:
    """The message of an error body in at most 200 characters, or "" if there is none.

    `sent` are the texts of the refused request; nothing of them and no key, `key` least of all, is in the excerpt.
    """
    # Anything longer is cut off anyway, and what is compared with the prompt has to be short.
    said = _squeezed(_message(body))[: 4 * MOST_CHARS]
    if key:
        said = said.replace(key, LEFT_OUT)
    said = _without(_KEY.sub(LEFT_OUT, said), "\n".join(map(_squeezed, sent)))
    return said if len(said) <= MOST_CHARS else said[: MOST_CHARS - 1] + LEFT_OUT


def _message(body: str) -> str:
    try:
        value: Any = loads_bounded(body.encode())
    except ValueError:
        return ""
    error = value.get("error") if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _squeezed(text: str) -> str:
    """One line of printable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _without(said: str, sent: str) -> str:
    """`said` without what it quotes of `sent`, and without the runs they share."""
    said = _QUOTED.sub(lambda quoted: LEFT_OUT if quoted["inside"] in sent else quoted[0], said)
    starts = range(len(said) - QUOTED_CHARS + 1)
    shared = {at for start in starts if said[start : start + QUOTED_CHARS] in sent for at in _run(start)}
    kept = "".join("\0" if at in shared else character for at, character in enumerate(said))
    return re.sub("\0+", LEFT_OUT, kept)


def _run(start: int) -> range:
    return range(start, start + QUOTED_CHARS)
