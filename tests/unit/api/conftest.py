"""Fixtures of the tests of the HTTP API's parts: a session log without a service."""

from tests.support.log.scenes import clock, new_scene, scene, store

__all__ = ["clock", "new_scene", "scene", "store"]
