"""`python -m benchmarks.attacks`: the rows on PostgreSQL, then those of one process on SQLite."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from benchmarks.attacks.rows import SETTING, rows
from benchmarks.harness import Row, show
from benchmarks.processes import running
from stack.stack import Stack

KEYS = {"FOLDLINE_API_KEYS": SETTING}


def main() -> int:
    """Measure and print the rows. The exit code is 1 if a bound is missed."""
    with tempfile.TemporaryDirectory(prefix="foldline-attacks-") as name, closing(_rows(Path(name))) as found:
        return 0 if show(found) else 1


def _rows(folder: Path) -> Generator[Row, None, None]:
    with Stack(workers=1, environment=KEYS, logs=folder / "stack", is_durable=True, without=("flower",)) as stack:
        yield from rows(folder, stack.api_url, "PostgreSQL")
    options = ("serve", "--port", "0", "--database-url", f"sqlite:///{folder}/attacked.db")
    with running(folder, "foldline.cli.main", *options, until="listening on", **KEYS) as service:
        (url,) = re.findall(r"listening on (http://\S+)", service.logged())
        yield from rows(folder, url, "SQLite")


if __name__ == "__main__":
    sys.exit(main())
