"""A service that the tests of a module share; each test has sessions of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes.api import Api, open_api


@pytest.fixture(scope="module")
def api(module_database: str) -> Iterator[Api]:
    with open_api(module_database, max_body_bytes=24 * 1024 * 1024) as opened:
        yield opened
