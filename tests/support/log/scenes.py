"""Fixtures: a store on a database of its own, a clock that stands still, and sessions checked when a test is over.

A `conftest.py` imports those its folder needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from foldline.log.storage.store import Limits, Store
from tests.support.log.sessions import Clock, Scene, assert_consistent, open_store

LIMITS = Limits(lease_seconds=60, retry_seconds=30, max_attempts=3)

NewScene: TypeAlias = Callable[..., Scene]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(database: str, clock: Clock) -> Iterator[Store]:
    with open_store(database, limits=LIMITS, clock=clock) as store:
        yield store


@pytest.fixture
def new_scene(store: Store) -> Iterator[NewScene]:
    """Makes sessions; what they say of themselves at the end must be true."""
    scenes: list[Scene] = []

    def make(limit: int = 1_000, **more: Any) -> Scene:
        scenes.append(Scene(store, limit, **more))
        return scenes[-1]

    yield make
    for scene in scenes:
        assert_consistent(scene)


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session with a budget of 1,000 tokens: trigger 800, target 500."""
    return new_scene()
