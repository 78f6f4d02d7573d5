from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foldline.cli.watching.running_services import named_in, running_services


@contextmanager
def running(lock: Path, url: str) -> Iterator[None]:
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with named_in(lock, url):
            yield


def test_services_that_hold_their_lock_are_found_the_newest_first(tmp_path: Path) -> None:
    first, second, ended = (tmp_path / name for name in ("gateway.lock", "gateway-2.lock", "gateway-3.lock"))
    # As a process leaves it that was killed.
    ended.write_text("http://127.0.0.1:3\n")
    with running(first, "http://127.0.0.1:1"), running(second, "http://127.0.0.1:2"):
        os.utime(first, (1, 1))
        assert running_services(tmp_path) == ["http://127.0.0.1:2", "http://127.0.0.1:1"]
        assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert running_services(tmp_path) == []
    assert first.read_text() == ""


def test_a_service_that_is_not_ready_has_no_address_yet(tmp_path: Path) -> None:
    with running(tmp_path / "gateway.lock", ""):
        assert running_services(tmp_path) == []
