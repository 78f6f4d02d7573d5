"""Messages that a worker has not used when its broker is lost are given up without a word."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from foldline_worker.processes.worker import PatientQoS


class LostChannel:
    """A channel whose broker has gone; `tried` are the messages that it was to take."""

    do_restore = True

    def __init__(self) -> None:
        self.tried: list[Any] = []

    def _restore(self, message: Any) -> None:
        self.tried.append(message)
        raise ConnectionError


def test_what_a_lost_broker_cannot_take_is_no_error(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    channel: Any = LostChannel()
    unused = PatientQoS(channel)
    unused.append("a message", "its tag")
    with caplog.at_level(logging.WARNING):
        unused.restore_unacked_once()
    assert channel.tried == ["a message"]
    assert (caplog.text, *capsys.readouterr()) == ("", "", "")
