"""Tests marked `thorough` are more of what other tests have examples of: `make property` runs them.

All other runs name them at their end. These are hooks of pytest, for `tests/conftest.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pytest

_LEFT_OUT: Final = pytest.StashKey[Counter[str]]()
# Between the processes of pytest-xdist.
_KEY: Final = "thorough"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEFT_OUT] = Counter[str]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("thorough"):
            item.config.stash[_LEFT_OUT][item.nodeid.partition("[")[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        counts: Counter[str] = session.config.stash[_LEFT_OUT]
        output[_KEY] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    # Each process collects all tests, and leaves out the same.
    left_out = Counter(getattr(node, "workeroutput", {}).get(_KEY, {}))
    node.config.stash[_LEFT_OUT] = node.config.stash[_LEFT_OUT] | left_out


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = config.stash[_LEFT_OUT]
    if left_out:
        terminalreporter.section(f"{left_out.total()} tests are left to `make property`")
        for name, count in sorted(left_out.items()):
            terminalreporter.line(f"{count:4} {name}")
