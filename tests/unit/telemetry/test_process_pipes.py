"""Processes that are asked for their metrics on pipes: some are silent, fail or end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric as Family

from foldline.cli.serving import api_processes
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.process_pipes import SERVES, ProcessPipe, answer_questions, metrics_of

FAMILIES = [Family("one", "", "gauge")]


class Fails(Metrics):
    """Metrics that cannot be read so many times, and then can."""

    def __init__(self, failures: int) -> None:
        self._failures = failures

    def families(self) -> list[Family]:
        if self._failures:
            self._failures -= 1
            raise OSError(24, "Too many open files")
        return FAMILIES


@contextmanager
def serving() -> Iterator[tuple[ProcessPipe, Connection[Any, Any]]]:
    """A process that says that it serves, and its end of the pipe, on which nobody answers yet."""
    ours, theirs = Pipe()
    pipe = ProcessPipe(ours)
    theirs.send(SERVES)
    pipe.note_start()
    try:
        yield pipe, theirs
    finally:
        pipe.close()
        theirs.close()


@contextmanager
def answering(failures: int = 0) -> Iterator[ProcessPipe]:
    """A process whose metrics cannot be read so many times."""
    ours, theirs = Pipe()
    pipe = ProcessPipe(ours)
    thread = Thread(target=answer_questions, args=(theirs, Fails(failures)))
    thread.start()
    while not pipe.serves:
        pipe.note_start()
    try:
        yield pipe
    finally:
        pipe.close()
        thread.join(10)
        assert not thread.is_alive()


def test_silent_processes_are_waited_for_together_and_the_others_are_shown() -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(serving())[0] for _ in range(4)]
        pipes = dict(enumerate([*silent, stack.enter_context(answering())], 1))
        begin = monotonic()
        assert [*metrics_of(pipes, 0.5)] == [5]
        assert 0.4 < monotonic() - begin < 1.5


def test_a_late_answer_is_taken_the_next_time_and_no_second_question_is_asked() -> None:
    with serving() as (pipe, theirs):
        assert metrics_of({1: pipe}, 0.01) == {}
        assert metrics_of({1: pipe}, 0.01) == {}
        theirs.send(FAMILIES)
        assert metrics_of({1: pipe}, 0.01) == {1: FAMILIES}
        theirs.recv()
        assert not theirs.poll()


def test_a_process_that_ended_or_does_not_serve_yet_is_left_out_without_a_wait() -> None:
    ours, theirs = Pipe()
    with serving() as (pipe, end), theirs:
        end.close()
        begin = monotonic()
        assert metrics_of({1: pipe, 2: ProcessPipe(ours)}, 20) == {}
        assert metrics_of({}, 20) == {}
        assert monotonic() - begin < 5
    assert metrics_of({1: pipe}, 20) == {}
    ours.close()


def test_metrics_that_cannot_be_read_are_logged_and_the_next_question_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with answering(failures=1) as pipe:
        assert metrics_of({1: pipe}, 20) == {}
        assert "could not be read" in caplog.text
        assert [family.name for family in metrics_of({1: pipe}, 20)[1]] == ["one"]


def test_a_pipe_is_closed_only_when_nobody_waits_on_it() -> None:
    with serving() as (pipe, _):
        with pipe.asked() as connection:
            closing = Thread(target=pipe.close)
            closing.start()
            closing.join(0.2)
            assert connection is not None
            assert (closing.is_alive(), connection.closed) == (True, False)
        closing.join(10)
        assert connection.closed


def test_a_process_ends_when_it_can_answer_no_more_whatever_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[int, int]] = []
    monkeypatch.setattr(api_processes, "answer_questions", lambda *_: int("nothing"))
    monkeypatch.setattr(os, "kill", lambda *given: ended.append(given))
    ours, theirs = Pipe()
    with ours, theirs, pytest.raises(ValueError, match="nothing"):
        api_processes.answer_while_asked(theirs, Fails(0))
    assert ended == [(os.getpid(), signal.SIGTERM)]
