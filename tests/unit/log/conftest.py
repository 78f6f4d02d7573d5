"""Fixtures of the tests of the session log. They run on SQLite alone, which needs no server."""

from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.processes.databases import only_sqlite

__all__ = ["clock", "new_scene", "scene", "store"]

database_kind = only_sqlite
