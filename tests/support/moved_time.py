"""Time that passes when a test says so."""

from __future__ import annotations


class MovedTime:
    """Seconds, which are moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now
