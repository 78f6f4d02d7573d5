"""Time that passes when a test says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class MovedTime:
    """Seconds, which are moved by hand."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now
