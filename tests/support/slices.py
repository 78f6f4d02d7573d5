"""The slices of a processor that threads have on Linux, where it lets them choose and shows what they chose."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import pytest

SHOWN = re.compile(r"se\.slice *: *(\d+)")


def slice_of(process: int, thread: int | None = None) -> int | None:
    """Nanoseconds, of the main thread if no other is given; None where they are not shown."""
    file = Path(f"/proc/{process}/task/{thread or process}/sched")
    found = SHOWN.search(file.read_text(encoding="utf-8")) if file.exists() else None
    return int(found[1]) if found else None


def _has_slices() -> bool:
    version = [int(number) for number in re.findall(r"\d+", platform.release())[:2]]
    return version >= [6, 12] and slice_of(os.getpid()) is not None


needs_slices = pytest.mark.skipif(not _has_slices(), reason="no Linux from 6.12 on that shows slices")
