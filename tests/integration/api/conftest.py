"""A service that the tests of a module share; each test has sessions of its own.

What the API does with a request says little of the database below it, so most modules run on one kind.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes.api import Api, open_api
from tests.support.processes.databases import only_postgresql

database_kind = only_postgresql


@pytest.fixture(scope="module")
def api(module_database: str) -> Iterator[Api]:
    with open_api(module_database, max_body_bytes=24 * 1024 * 1024) as opened:
        yield opened
