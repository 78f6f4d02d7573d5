"""Hooks of packages installed beside Foldline: called before a summary is written, and with the outcome.

They register under the entry point group `foldline.hooks`. Their contract is in `docs/hooks.md`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from inspect import isclass
from threading import Condition, Thread
from typing import Any, Final, Protocol

from foldline.engine.summaries.gate import Judged, Story, judge
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.wire import dumps, loads, loads_bounded
from foldline.log.events import Event
from foldline.log.storage.store import Store
from foldline.telemetry.logs import describe
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.hooks.calls import CallFailed, HookCalls
from foldline_worker.hooks.outcomes import outcome_of

logger = logging.getLogger(__name__)

GROUP: Final = "foldline.hooks"
METHODS: Final = ("before_compact", "before_branch", "after_compact", "after_branch")
# Minutes of outcomes of a busy process; later ones would come too late to be useful.
MOST_WAITING: Final = 1_000
UNEXPLAINED: Final = "a hook cancelled it and gave no reason"
NO_ANSWER: Final = "its answer {}"


class InvalidHook(Exception):
    """An installed hook cannot be used. The process must not start without it, because it may enforce a policy."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the hook {name} cannot be used: {reason}")
        self.name = name
        self.reason = reason


class HookFailed(Exception):
    """A hook failed, and the settings let a summary fail with it; `reason` quotes no conversation."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the hook {name} failed: {reason}")
        self.name = name
        self.reason = reason


class HasKind(Protocol):
    """An argument of hooks; `kind` is `compact` for a compaction or `branch` for a branch summary."""

    @property
    def kind(self) -> str: ...


class HasJob(HasKind, Protocol):
    """The argument of `before_…` hooks: a summary that a job is to write for `request`."""

    @property
    def job_id(self) -> str: ...
    @property
    def request(self) -> SummaryInput: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of all hooks on a summary; without values, the summarizer writes it as usual.

    `cancelled` is the reason of the hook that cancelled it. `summary` is the text of the hook that supplied it, and
    `details` a JSON object from the same hook. `hook` is the name of that hook. `instructions` are those of all hooks
    that were called.
    """

    hook: str | None = None
    cancelled: str | None = None
    summary: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None


class Hooks:
    """The hooks of a process, called in the order of their names.

    A hook fails if it raises, takes longer than `timeout_seconds`, or returns an invalid answer. The failure is logged.
    Before a summary, the summary goes on without that hook, or the job fails if `fails_closed`.
    """

    def __init__(self, hooks: Mapping[str, object], timeout_seconds: float, *, fails_closed: bool = False) -> None:
        self.names = tuple(sorted(hooks))
        self._fails_closed = fails_closed
        self._calls = {name: HookCalls(timeout_seconds) for name in self.names}
        self._hooks_by_method = {
            method: [(name, getattr(hooks[name], method)) for name in self.names if _has(hooks[name], method)]
            for method in METHODS
        }
        self._waiting: deque[HasKind] = deque()
        self._wake = Condition()
        self._is_stopping = False
        self._is_dropping = False
        self._end = Cancellation()
        self._thread = Thread(target=self._run, name="foldline-hooks", daemon=True)

    @property
    def is_empty(self) -> bool:
        """Whether no hooks are installed."""
        return not self.names

    def before(self, preparation: HasJob, cancellation: Cancellation) -> Decision:
        """The decision of the hooks on this summary. No hook is called after one that cancels or supplies it.

        Raises:
            Cancelled: the summary was cancelled.
            HookFailed: a hook failed, and `fails_closed` is set.
        """
        decision = Decision()
        instructions: list[str] = []
        for name, method in self._hooks_by_method[f"before_{preparation.kind}"]:
            decision = self._call_before(name, method, preparation, cancellation)
            if decision.instructions is not None:
                instructions.append(decision.instructions)
            if decision.hook is not None:
                break
        return replace(decision, instructions="\n\n".join(instructions) or None)

    def start(self) -> None:
        """Start to report outcomes to the hooks."""
        if self._hooks_by_method["after_compact"] or self._hooks_by_method["after_branch"]:
            self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Report the outcomes that wait and end the thread; False if that took too long, and the rest is dropped."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_seconds)
        has_ended = not self._thread.is_alive()
        self._end.cancel()
        return has_ended

    def on_event(self, event: Event) -> None:
        """Report the outcome of a compaction or job; to be subscribed to a store."""
        outcome = outcome_of(event)
        if outcome is not None:
            self.report(outcome)

    def report(self, outcome: HasKind) -> None:
        """Have the outcome reported to the hooks, at most once. Returns at once."""
        if not self._hooks_by_method.get(f"after_{outcome.kind}"):
            return
        with self._wake:
            was_dropping = self._is_dropping
            self._is_dropping = self._is_stopping or len(self._waiting) >= MOST_WAITING
            if not self._is_dropping:
                self._waiting.append(outcome)
                self._wake.notify()
            elif not was_dropping:
                logger.warning("outcomes are not reported to hooks: %d wait, or the process ends", len(self._waiting))

    def _call_before(
        self, name: str, method: Callable[[HasJob], object], preparation: HasJob, cancellation: Cancellation
    ) -> Decision:
        try:
            # The answer is validated on the hook's thread too, because that may run code of the hook.
            return self._calls[name].call(lambda: _decision(name, method(preparation), preparation), cancellation)
        except CallFailed as failure:
            about = {"hook": name, "job_id": preparation.job_id}
            logger.warning("hook %s failed: %s", name, failure.reason, extra=about)
            if self._fails_closed:
                raise HookFailed(name, failure.reason) from failure
            return Decision()

    def _run(self) -> None:
        with suppress(Cancelled):
            while (outcome := self._next()) is not None:
                for name, method in self._hooks_by_method[f"after_{outcome.kind}"]:
                    self._report(name, partial(method, outcome))

    def _next(self) -> HasKind | None:
        """The next outcome to report; waits for one, and is None only at the end."""
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._is_stopping)
            return self._waiting.popleft() if self._waiting else None

    def _report(self, name: str, call: Callable[[], object]) -> None:
        try:
            self._calls[name].call(call, self._end)
        except CallFailed as failure:
            logger.warning("hook %s failed on an outcome: %s", name, failure.reason, extra={"hook": name})


@contextmanager
def reporting(hooks: Hooks, store: Store, stop_seconds: float) -> Iterator[None]:
    """A block in which the store's outcomes are reported to hooks; at its end, those that wait are reported."""
    hooks.start()
    store.subscribe(hooks.on_event)
    try:
        yield
    finally:
        store.unsubscribe(hooks.on_event)
        hooks.stop(stop_seconds)


def load_hooks(timeout_seconds: float, *, fails_closed: bool) -> Hooks:
    """The installed hooks.

    Raises:
        InvalidHook: one cannot be loaded, has none of the methods, or has the name of another.
    """
    hooks: dict[str, object] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in hooks:
            raise InvalidHook(entry.name, "two packages have one of this name")
        hooks[entry.name] = _loaded(entry)
    return Hooks(hooks, timeout_seconds, fails_closed=fails_closed)


def _loaded(entry: EntryPoint) -> object:
    try:
        found = entry.load()
        hook = found() if isclass(found) else found
    except (ImportError, AttributeError) as error:
        # These messages name what is missing, and there is no conversation yet that they could quote.
        raise InvalidHook(entry.name, str(error)) from error
    except Exception as error:
        raise InvalidHook(entry.name, describe(error)) from error
    if not any(_has(hook, method) for method in METHODS):
        raise InvalidHook(entry.name, f"it has none of {', '.join(METHODS)}")
    return hook


def _has(hook: object, method: str) -> bool:
    return callable(getattr(hook, method, None))


def _decision(hook: str, answer: object, about: HasJob) -> Decision:
    if answer is None:
        return Decision()
    if not isinstance(answer, Mapping):
        raise CallFailed(NO_ANSWER.format("is no mapping"))
    given: dict[Any, Any] = dict(answer)
    if given.get("cancel") is False:
        # As in `{"cancel": is_quiet_now()}`.
        del given["cancel"]
    summary = given.get("summary")
    judged = judge(Story(summary), about.request, by_model=False) if isinstance(summary, str) else Judged(None)
    if faults := [*_faults(given), *_refused(judged)]:
        raise CallFailed(NO_ANSWER.format(" and ".join(faults)))
    if reason := given.get("cancel"):
        return Decision(hook, cancelled=UNEXPLAINED if reason is True else reason)
    return Decision(
        hook if "summary" in given else None,
        summary=judged.text,
        # A copy, which the hook cannot change later.
        details=loads(dumps({**given.get("details", {}), **judged.details})),
        instructions=given.get("instructions"),
    )


def _faults(given: Mapping[Any, Any]) -> Iterator[str]:
    if not given.keys() <= _IS_VALID.keys():
        yield f"has other keys than {', '.join(_IS_VALID)}"
    if "details" in given and "summary" not in given:
        yield "has details without a summary"
    yield from (
        f"has no valid {key}" for key, is_valid in _IS_VALID.items() if key in given and not is_valid(given[key])
    )


def _refused(judged: Judged) -> Iterator[str]:
    """Why the summary may not be published."""
    if judged.reason:
        yield f"has a summary that cannot be published: {judged.reason}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_json_object(value: object) -> bool:
    """Whether the value is unchanged after a round trip through JSON."""
    try:
        return isinstance(value, dict) and bool(loads_bounded(dumps(value)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


_IS_VALID: Final[Mapping[str, Callable[[object], bool]]] = {
    "cancel": lambda value: value is True or _is_text(value),
    "summary": _is_text,
    "details": _is_json_object,
    "instructions": _is_text,
}
