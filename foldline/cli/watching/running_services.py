"""The private services of `foldline run`: each names its address in the lock file beside its database.

Only a file that is locked is believed: the lock ends with the process, however that ends.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import typer

LOCKS: Final = "gateway*.lock"
OWNER_ALONE: Final = 0o600


def user_folder() -> Path:
    """The folder of conversations where a user names none."""
    return Path(typer.get_app_dir("foldline"))


@contextmanager
def named_in(lock: Path, url: str) -> Iterator[None]:
    """The address of a service stands in its lock file for the block. The caller holds the lock."""
    lock.chmod(OWNER_ALONE)
    lock.write_text(f"{url}\n", encoding="utf-8")
    try:
        yield
    finally:
        lock.write_text("", encoding="utf-8")


def running_services(folder: Path) -> list[str]:
    """The addresses of the services that run on databases of the folder, the newest first."""
    locks = sorted(folder.glob(LOCKS), key=lambda lock: lock.stat().st_mtime_ns, reverse=True)
    return [url for lock in locks if (url := _address_in(lock))]


def _address_in(path: Path) -> str:
    """The address in a lock file; "" if there is none, or if nobody holds the lock."""
    with path.open(encoding="utf-8") as lock:
        address = lock.read().strip()
        return address if address and _is_held(lock) else ""


def _is_held(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(lock, fcntl.LOCK_UN)
    return False
