"""Whether a loop still turns: it ticks, and who asks sees when it did last."""

from __future__ import annotations

from time import monotonic
from typing import Final

# A broker that does not answer holds a loop up for some time-outs; longer than this, and something else does.
LATE_SECONDS: Final = 60.0
TICK_SECONDS: Final = 5.0


class Ticks:
    """The ticks of a loop, which may be `pause_seconds` apart."""

    def __init__(self, pause_seconds: float = TICK_SECONDS) -> None:
        self._late_seconds = LATE_SECONDS + pause_seconds
        self._last = monotonic()

    def tick(self) -> None:
        """For the loop."""
        self._last = monotonic()

    @property
    def are_on_time(self) -> bool:
        """Whether there was one lately."""
        return monotonic() - self._last < self._late_seconds
