"""How the worker survives what it did not expect, and what it says about it: kind and place, never the message.

An exception's message can quote what it was raised for: a row, a prompt, an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from traceback import extract_tb
from types import TracebackType
from typing import Final

FRAMES_SHOWN: Final = 3


def describe(error: BaseException) -> str:
    """As in `Unavailable from TimeoutError at store.py:80 in write < jobs.py:41 in claim`, innermost place first."""
    frames = extract_tb(error.__traceback__)[-FRAMES_SHOWN:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}" for frame in reversed(frames)]
    kinds = type(error).__name__ + (f" from {type(error.__cause__).__name__}" if error.__cause__ else "")
    return f"{kinds} at {' < '.join(places)}" if places else kinds


class Contained:
    """A context that no `Exception` leaves: `on_error` gets it instead."""

    def __init__(self, on_error: Callable[[Exception], object]) -> None:
        self._on_error = on_error

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._on_error(error)
        return True
