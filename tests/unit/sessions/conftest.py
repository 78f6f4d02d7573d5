"""Fixtures of the tests of the session log. They run on SQLite alone, which needs no server."""

import pytest

from tests.support.databases import SQLITE
from tests.support.scenes import clock, new_scene, scene, store

__all__ = ["clock", "new_scene", "scene", "store"]


@pytest.fixture(scope="session")
def database_kind() -> str:
    return SQLITE
