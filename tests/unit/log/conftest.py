"""Fixtures of the tests of the session log. They run on SQLite alone, which needs no server."""

import pytest

from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.processes.databases import SQLITE

__all__ = ["clock", "new_scene", "scene", "store"]


@pytest.fixture(scope="session")
def database_kind() -> str:
    return SQLITE
