"""Waiting for a condition by polling."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

POLL_SECONDS: Final = 0.02


def comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether `condition` becomes true within `seconds`; returns as soon as it does."""
    retrying = Retrying(
        retry=retry_if_result(operator.not_),
        stop=stop_after_delay(seconds),
        wait=wait_fixed(POLL_SECONDS),
        retry_error_callback=lambda _: False,
    )
    return bool(retrying(condition))
