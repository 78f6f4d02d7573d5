"""Fixtures of the tests of the HTTP API's parts: a session log without a service."""

from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.processes.databases import only_sqlite

__all__ = ["clock", "new_scene", "scene", "store"]

database_kind = only_sqlite
