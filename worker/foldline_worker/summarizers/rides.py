"""Whether the views that a summarizer is sent are found in the provider's cache at all."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Lock
from typing import Final

logger = logging.getLogger(__name__)

# A view that is not found costs more than its transcript, so a wrong setting must not do so for long.
MOST_MISSES: Final = 3
FOUND_SHARE: Final = 0.5


class Rides:
    """Counts the views in a row that were not found; after `MOST_MISSES` this process sends no more of them.

    Threads may share it. Where a provider does not say what it found, nothing is counted.
    """

    def __init__(self, name: str, *, are_allowed: bool) -> None:
        self.are_allowed = are_allowed
        self._name = name
        self._misses = 0
        self._lock = Lock()

    @property
    def are_worthwhile(self) -> bool:
        """Whether to send views."""
        return self.are_allowed and self._misses < MOST_MISSES

    def note(self, usage: Mapping[str, int], beginning_tokens: int) -> None:
        """Note the usage of the first call with a view whose beginning has so many tokens."""
        if "cache_read" not in usage:
            return
        with self._lock:
            is_found = usage["cache_read"] >= FOUND_SHARE * beginning_tokens
            self._misses = 0 if is_found else self._misses + 1
            if self._misses == MOST_MISSES:
                logger.warning(
                    "summarizer %s: views are not in the cache, transcripts are sent from now on", self._name
                )
