"""Hooks of other packages: their decisions on a summary, the outcomes they get, and the bounds on their calls."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread, Timer
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.hooks.calls import MOST_ABANDONED
from foldline_worker.hooks.hooks import MOST_WAITING, UNEXPLAINED, Decision, HookFailed, Hooks, InvalidHook, load_hooks

from foldline.engine.summaries.prompt import SummaryInput
from tests.support.eventually import eventually

# A hook that answers does so long before; one that hangs is waited for that long.
SECONDS = 5.0
SHORT_SECONDS = 0.05
SECRET = "what the user said"


@dataclass(frozen=True)
class FakePreparation:
    kind: str = "compact"
    job_id: str = "job_a"
    request: SummaryInput = field(default_factory=lambda: SummaryInput((), (), 8))


@dataclass(frozen=True)
class FakeOutcome:
    kind: str = "compact"
    number: int = 0


def answering(answer: object) -> SimpleNamespace:
    return SimpleNamespace(before_compact=lambda _: answer)


def raising(error: BaseException) -> SimpleNamespace:
    def before_compact(_: object) -> None:
        raise error

    return SimpleNamespace(before_compact=before_compact)


def decision(*answers: object, fails_closed: bool = False) -> Decision:
    """The decision of hooks named a, b, … with these answers."""
    hooks = {name: answering(answer) for name, answer in zip("abc", answers, strict=False)}
    return Hooks(hooks, SECONDS, fails_closed=fails_closed).before(FakePreparation(), Cancellation())


class Hanging:
    """Hangs in every call until `go` is set."""

    def __init__(self) -> None:
        self.go = Event()
        self.calls = 0
        self.has_begun = Event()

    def before_compact(self, _: object) -> None:
        self.calls += 1
        self.has_begun.set()
        self.go.wait(30)

    after_compact = before_compact

    def close(self) -> None:
        self.go.set()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    with closing(Hanging()) as hook:
        yield hook


@contextmanager
def reporting_to(after: Callable[[Any], object], seconds: float = SECONDS) -> Iterator[Hooks]:
    hooks = Hooks({"a": SimpleNamespace(after_compact=after)}, seconds)
    hooks.start()
    yield hooks
    assert hooks.stop(SECONDS)


@pytest.mark.parametrize("answer", [None, {}, {"cancel": False}])
def test_a_hook_may_have_nothing_to_say(answer: object) -> None:
    assert decision(answer, {"cancel": "later"}) == Decision("b", cancelled="later")


def test_a_summary_that_no_model_could_publish_is_no_answer() -> None:
    assert decision({"summary": "Eight tokens are what there is room for."}).summary is None
    assert decision({"summary": "<tool_call>run</tool_call>"}).summary is None


def test_hooks_that_say_nothing_change_nothing() -> None:
    assert decision() == decision(None, None) == Decision()


def test_hooks_are_known_by_their_names() -> None:
    hooks = Hooks({"b": answering(None), "a": answering(None)}, SECONDS)
    assert hooks.names == ("a", "b")
    assert not hooks.is_empty
    assert Hooks({}, SECONDS).is_empty


def test_a_hook_gets_preparations_only_of_the_kind_it_has_a_method_for() -> None:
    seen: list[object] = []
    hooks = Hooks({"a": SimpleNamespace(before_branch=seen.append)}, SECONDS)
    hooks.before(FakePreparation("compact"), Cancellation())
    hooks.before(FakePreparation("branch"), Cancellation())
    assert seen == [FakePreparation("branch")]


def test_hooks_are_called_in_the_order_of_their_names_one_after_another() -> None:
    seen: list[str] = []
    hooks = {name: SimpleNamespace(before_compact=lambda _, name=name: seen.append(name)) for name in "cab"}
    Hooks(hooks, SECONDS).before(FakePreparation(), Cancellation())
    assert seen == ["a", "b", "c"]


@pytest.mark.parametrize(("cancel", "reason"), [("audit hold", "audit hold"), (True, UNEXPLAINED)])
def test_the_first_hook_that_cancels_ends_it(cancel: object, reason: str) -> None:
    assert decision(None, {"cancel": cancel}, {"summary": "too late"}) == Decision(hook="b", cancelled=reason)


def test_the_first_hook_that_supplies_a_summary_ends_it() -> None:
    decided = decision({"summary": "S", "details": {"files": ["a.py", {"n": 1}]}}, {"cancel": True})
    assert decided == Decision(hook="a", summary="S", details={"files": ["a.py", {"n": 1}]})


def test_a_summary_that_is_cancelled_by_the_hook_that_supplies_it_is_not_published() -> None:
    assert decision({"summary": "S", "cancel": "no"}) == Decision(hook="a", cancelled="no")


def test_instructions_of_several_hooks_are_collected() -> None:
    assert decision({"instructions": "Keep A."}, None, {"instructions": "Keep B."}) == Decision(
        instructions="Keep A.\n\nKeep B."
    )


def test_details_stay_as_they_were_answered() -> None:
    details = {"seen": [1]}
    decided = decision({"summary": "S", "details": details})
    details["seen"].append(2)
    assert decided.details == {"seen": [1]}


NONSENSE = {
    "no mapping": ["summary"],
    "text": SECRET,
    "unknown": {"summary": "S", SECRET: 1},
    "cancelled by number": {"cancel": 1},
    "cancelled for no reason": {"cancel": ""},
    "empty summary": {"summary": " \n"},
    "no text": {"summary": 7},
    "no summary": {"summary": None},
    "no instructions": {"instructions": [SECRET]},
    "details alone": {"details": {}},
    "details of a list": {"summary": "S", "details": []},
    "details with a key that is no text": {"summary": "S", "details": {1: SECRET}},
    "details with a value that is not JSON": {"summary": "S", "details": {"a": object()}},
    "details with a number that is not JSON": {"summary": "S", "details": {"a": float("nan")}},
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_counts_as_no_answer_and_is_logged_without_quoting_it(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert decision(answer, {"instructions": "Keep B."}) == Decision(instructions="Keep B.")
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("hook a failed: its answer ")
    assert record.__dict__["job_id"] == "job_a"
    assert SECRET not in caplog.text


def test_all_faults_of_an_answer_are_named(caplog: pytest.LogCaptureFixture) -> None:
    decision({"details": 1, "cancel": 2})
    assert "its answer has details without a summary and has no valid cancel and has no valid details" in caplog.text


def test_details_that_contain_themselves_are_nonsense() -> None:
    details: dict[str, Any] = {}
    details["itself"] = details
    with pytest.raises(HookFailed):
        decision({"summary": "S", "details": details}, fails_closed=True)


@pytest.mark.parametrize("error", [RuntimeError(SECRET), SystemExit(SECRET), KeyboardInterrupt(SECRET), Cancelled()])
def test_a_hook_that_raises_counts_as_no_answer_and_its_message_is_not_logged(
    error: BaseException, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = Hooks({"a": raising(error), "b": answering({"instructions": "Keep B."})}, SECONDS)
    assert hooks.before(FakePreparation(), Cancellation()) == Decision(instructions="Keep B.")
    assert f"hook a failed: {type(error).__name__} at test_hooks.py:" in caplog.text
    assert SECRET not in caplog.text + capsys.readouterr().err


def test_a_hook_that_hangs_counts_as_no_answer_after_its_time(
    hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks({"a": hanging, "b": answering({"summary": "S"})}, SHORT_SECONDS)
    begun = monotonic()
    assert hooks.before(FakePreparation(), Cancellation()) == Decision(hook="b", summary="S")
    assert SHORT_SECONDS <= monotonic() - begun < SECONDS
    assert "hook a failed: it did not answer within 0.05 s" in caplog.text


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        (raising(RuntimeError(SECRET)), "RuntimeError at "),
        (answering({"summary": ""}), "its answer has no valid summary"),
    ],
)
def test_where_hooks_must_be_heard_one_that_fails_fails_the_job(
    hook: object, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks({"a": hook, "b": answering({"summary": "S"})}, SECONDS, fails_closed=True)
    with pytest.raises(HookFailed) as failed:
        hooks.before(FakePreparation(), Cancellation())
    assert failed.value.name == "a"
    assert failed.value.reason.startswith(reason)
    assert str(failed.value) == f"the hook a failed: {failed.value.reason}"
    assert f"hook a failed: {reason}" in caplog.text


def test_where_hooks_must_be_heard_one_that_hangs_fails_the_job(hanging: Hanging) -> None:
    with pytest.raises(HookFailed, match="the hook a failed: it did not answer within"):
        Hooks({"a": hanging}, SHORT_SECONDS, fails_closed=True).before(FakePreparation(), Cancellation())


def test_a_hook_with_too_many_hanging_calls_is_not_called_until_one_comes_back(
    hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks({"a": hanging}, SHORT_SECONDS)
    for _ in range(MOST_ABANDONED + 1):
        assert hooks.before(FakePreparation(), Cancellation()) == Decision()
    assert hanging.calls == MOST_ABANDONED
    assert f"it was not called: {MOST_ABANDONED} earlier calls still hang" in caplog.text
    hanging.go.set()

    def is_called_again() -> bool:
        hooks.before(FakePreparation(), Cancellation())
        return hanging.calls > MOST_ABANDONED

    eventually(is_called_again)


def test_hanging_calls_of_one_hook_are_nothing_to_another(hanging: Hanging) -> None:
    hooks = Hooks({"a": hanging, "b": answering({"instructions": "Keep B."})}, SHORT_SECONDS)
    for _ in range(MOST_ABANDONED + 1):
        assert hooks.before(FakePreparation(), Cancellation()).instructions == "Keep B."


def test_a_job_that_is_cancelled_does_not_wait_for_its_hook(hanging: Hanging) -> None:
    cancellation = Cancellation()

    def cancel() -> None:
        assert hanging.has_begun.wait(SECONDS)
        cancellation.cancel()

    Thread(target=cancel).start()
    begun = monotonic()
    with pytest.raises(Cancelled):
        Hooks({"a": hanging}, 30).before(FakePreparation(), cancellation)
    assert monotonic() - begun < SECONDS


def test_no_hook_is_called_for_a_cancelled_job(hanging: Hanging) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        Hooks({"a": hanging}, SECONDS).before(FakePreparation(), cancellation)
    assert hanging.calls == 0


def test_a_job_that_is_cancelled_while_its_hook_answers_is_cancelled() -> None:
    cancellation = Cancellation()
    hook = SimpleNamespace(before_compact=lambda _: cancellation.cancel())
    with pytest.raises(Cancelled):
        Hooks({"a": hook}, SECONDS).before(FakePreparation(), cancellation)


def test_hooks_get_outcomes_in_order_and_only_of_the_kind_they_have_a_method_for() -> None:
    seen: list[object] = []
    with reporting_to(seen.append) as hooks:
        for number in range(3):
            hooks.report(FakeOutcome("branch", number))
            hooks.report(FakeOutcome("compact", number))
    assert seen == [FakeOutcome("compact", number) for number in range(3)]


def test_an_outcome_is_reported_to_a_hook_without_waiting_for_the_end() -> None:
    is_reported = Event()
    with reporting_to(lambda _: is_reported.set()) as hooks:
        hooks.report(FakeOutcome())
        assert is_reported.wait(SECONDS)


def test_outcomes_before_the_start_are_reported_then() -> None:
    seen: list[object] = []
    hooks = Hooks({"a": SimpleNamespace(after_branch=seen.append)}, SECONDS)
    hooks.report(FakeOutcome("branch"))
    hooks.start()
    assert hooks.stop(SECONDS)
    assert seen == [FakeOutcome("branch")]


def test_a_hook_that_fails_on_an_outcome_is_logged_and_gets_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[FakeOutcome] = []

    def fail_once(outcome: FakeOutcome) -> None:
        seen.append(outcome)
        if outcome.number == 0:
            raise RuntimeError(SECRET)

    with reporting_to(fail_once) as hooks:
        hooks.report(FakeOutcome(number=0))
        hooks.report(FakeOutcome(number=1))
    assert seen == [FakeOutcome(number=0), FakeOutcome(number=1)]
    assert "hook a failed on an outcome: RuntimeError at test_hooks.py:" in caplog.text
    assert SECRET not in caplog.text


def test_a_hook_that_hangs_on_an_outcome_delays_nothing(hanging: Hanging, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []
    hooks = Hooks({"a": hanging, "b": SimpleNamespace(after_compact=seen.append)}, SHORT_SECONDS)
    hooks.start()
    hooks.report(FakeOutcome(number=0))
    hooks.report(FakeOutcome(number=1))
    assert hooks.stop(SECONDS)
    assert seen == [FakeOutcome(number=0), FakeOutcome(number=1)]
    assert caplog.text.count("hook a failed on an outcome: it did not answer within 0.05 s") == 2


def test_outcomes_beyond_the_limit_are_dropped_and_that_is_logged_once_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[int] = []
    gates = Hanging(), Hanging()

    def after(outcome: FakeOutcome) -> None:
        seen.append(outcome.number)
        if outcome.number < len(gates):
            gates[outcome.number].after_compact(outcome)

    with reporting_to(after, 30) as hooks:
        for run, gate in enumerate(gates):
            hooks.report(FakeOutcome(number=run))
            assert gate.has_begun.wait(SECONDS)
            for number in range(2, MOST_WAITING + 5):
                hooks.report(FakeOutcome(number=number))
            assert caplog.text.count(f"outcomes are not reported to hooks: {MOST_WAITING} wait") == run + 1
            gate.go.set()
            eventually(lambda: seen[-1] == MOST_WAITING + 1)
            seen.clear()


def test_hooks_without_after_methods_cost_no_thread() -> None:
    hooks = Hooks({"a": answering(None)}, SECONDS)
    before = {*threading.enumerate()}
    hooks.start()
    hooks.report(FakeOutcome())
    assert {*threading.enumerate()} <= before
    assert hooks.stop(SECONDS)


def test_the_end_does_not_wait_for_a_hook_longer_than_it_may(hanging: Hanging) -> None:
    hooks = Hooks({"a": hanging}, 30)
    hooks.start()
    for _ in range(3):
        hooks.report(FakeOutcome())
    assert hanging.has_begun.wait(SECONDS)
    assert not hooks.stop(SHORT_SECONDS)
    assert hooks.stop(SECONDS)
    assert hanging.calls == 1


def test_outcomes_that_wait_at_the_end_are_reported_if_there_is_time(hanging: Hanging) -> None:
    hooks = Hooks({"a": hanging}, 30)
    hooks.start()
    for _ in range(3):
        hooks.report(FakeOutcome())
    assert hanging.has_begun.wait(SECONDS)
    Timer(SHORT_SECONDS, hanging.go.set).start()
    assert hooks.stop(SECONDS)
    assert hanging.calls == 3


def test_outcomes_after_the_end_are_dropped_and_that_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []
    with reporting_to(seen.append) as hooks:
        pass
    hooks.report(FakeOutcome())
    hooks.report(FakeOutcome())
    assert seen == []
    assert caplog.text.count("outcomes are not reported to hooks: 0 wait, or the process ends") == 1


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs packages that each have one module and register from it."""
    modules: list[str] = []

    def install_package(package: str, code: str, **entries: str) -> None:
        place = tmp_path / package
        metadata = place / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (place / f"{package}.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {package}{target}" for name, target in entries.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[foldline.hooks]", *lines]))
        monkeypatch.syspath_prepend(str(place))
        modules.append(package)

    yield install_package
    for module in modules:
        sys.modules.pop(module, None)


CODE = """
def before_compact(preparation):
    return {"instructions": "of a module, for " + preparation.job_id}

class Policy:
    def before_compact(self, preparation):
        return {"instructions": "of a class"}

policy = Policy()
policy.before_compact = lambda preparation: {"instructions": "of an instance"}
"""


def test_installed_hooks_are_modules_classes_and_instances(install: Install) -> None:
    install("foldline_policies", CODE, a="", b=":Policy", c=":policy")
    hooks = load_hooks(SECONDS, fails_closed=True)
    assert hooks.names == ("a", "b", "c")
    said = hooks.before(FakePreparation(), Cancellation()).instructions
    assert said == "of a module, for job_a\n\nof a class\n\nof an instance"


def test_where_none_is_installed_there_are_no_hooks() -> None:
    assert load_hooks(SECONDS, fails_closed=False).is_empty


@pytest.mark.parametrize("fails_closed", [True, False])
def test_installed_hooks_fail_open_or_closed_as_set(install: Install, *, fails_closed: bool) -> None:
    install("foldline_broken", "def before_compact(preparation):\n    raise ValueError", broken="")
    hooks = load_hooks(SECONDS, fails_closed=fails_closed)
    if fails_closed:
        with pytest.raises(HookFailed):
            hooks.before(FakePreparation(), Cancellation())
    else:
        assert hooks.before(FakePreparation(), Cancellation()) == Decision()


UNUSABLE = {
    "module is missing": ("import surely_not_there", "", "No module named 'surely_not_there'"),
    "object is missing": ("", ":Policy", "has no attribute 'Policy'"),
    "module fails": ("raise ValueError('key-1')", "", r"ValueError at foldline_unusable.py:1"),
    "class needs arguments": ("class Policy:\n    def __init__(self, key): ...", ":Policy", "TypeError"),
    "nothing can be called": ("before_compact = 1", "", "it has none of before_compact, before_branch, after_compact,"),
}


@pytest.mark.parametrize(("code", "target", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_hook_that_cannot_be_used_is_an_error(install: Install, code: str, target: str, reason: str) -> None:
    install("foldline_unusable", code, policy=target)
    with pytest.raises(InvalidHook, match=f"the hook policy cannot be used: .*{reason}") as invalid:
        load_hooks(SECONDS, fails_closed=False)
    assert invalid.value.name == "policy"
    assert "key-1" not in str(invalid.value)


def test_two_hooks_of_one_name_are_an_error(install: Install) -> None:
    install("foldline_first", CODE, policy="")
    install("foldline_second", CODE, policy="")
    with pytest.raises(InvalidHook, match="two packages have one of this name"):
        load_hooks(SECONDS, fails_closed=False)
