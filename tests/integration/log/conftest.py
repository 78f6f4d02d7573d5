"""Fixtures of the tests of the session log."""

from tests.support.log.scenes import clock, new_scene, scene, store

__all__ = ["clock", "new_scene", "scene", "store"]
