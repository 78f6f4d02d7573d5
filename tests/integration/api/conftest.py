"""A service that the tests of a module share; each test has sessions of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.api import Api, open_api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with open_api(tmp_path_factory.mktemp("api"), max_body_bytes=24 * 1024 * 1024) as opened:
        yield opened
