"""When a failed call of an endpoint is repeated."""

from __future__ import annotations

from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.calls.endpoint import EndpointUnavailable


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a failed call is repeated, and how long the pauses are. A call that needs a longer pause fails."""

    attempts: int = 4
    wait_initial_seconds: float = 0.5
    wait_max_seconds: float = 10.0

    def is_worthwhile(self, error: BaseException) -> bool:
        """Whether to repeat the call."""
        if not isinstance(error, EndpointUnavailable) or not error.is_passing:
            return False
        return error.retry_after_seconds is None or error.retry_after_seconds <= self.wait_max_seconds

    def pause_seconds(self, state: RetryCallState) -> float:
        """The server's `Retry-After`, or else a pause that doubles with each call, with jitter."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, EndpointUnavailable) and error.retry_after_seconds is not None:
            return error.retry_after_seconds
        doubling = wait_exponential(multiplier=self.wait_initial_seconds, max=self.wait_max_seconds)
        return (doubling + wait_random(0, self.wait_initial_seconds))(state)

    def calls(self, cancellation: Cancellation) -> Retrying:
        """Calls a function until it succeeds, or until another try is not worthwhile."""
        return Retrying(
            retry=retry_if_exception(self.is_worthwhile),
            stop=stop_after_attempt(self.attempts),
            wait=self.pause_seconds,
            sleep=cancellation.wait,
            reraise=True,
        )
