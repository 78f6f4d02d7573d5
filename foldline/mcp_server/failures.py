"""What a model reads when a call fails: what was wrong, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from foldline.client import Refused
from foldline.terminal import CommandFailed, ExitCode

# By the names of problems; what is not here has its remedy in its own text.
NEXT_STEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not-found": "Check the id, in the call and in FOLDLINE_SESSION; without one the session that got a message "
        "last is taken, or its newest compaction",
        "invalid-request": "Mend that and call again; if you did not give it, the service has another version",
        "pin-too-large": "Pin a shorter text",
        "unavailable": "Call again in a few seconds",
    }
)
AWAY: Final = "Start it with `foldline serve`, or give its address as FOLDLINE_URL"
FAULTY: Final = "Call again; if that does not help, the log of the service says more"
NOT_OURS: Final = "Check FOLDLINE_URL: what answers there may be another program"


def sentence_of(failure: Refused | CommandFailed) -> str:
    """The failure in a sentence or two."""
    if isinstance(failure, CommandFailed):
        is_away = failure.code is ExitCode.SERVICE_FAILED
        return _sentences(str(failure), AWAY if is_away else "")
    if failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR and failure.name not in NEXT_STEPS:
        return _sentences(f"The service failed: {failure}", FAULTY)
    if "type" not in failure.problem:
        return _sentences(f"The service answered with status {failure.status}, and nothing that is known", NOT_OURS)
    return _sentences(failure.detail, NEXT_STEPS.get(failure.name, ""))


def _sentences(*texts: str) -> str:
    return " ".join(f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.?' else '.'}" for text in texts if text)
