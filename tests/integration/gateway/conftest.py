"""What the tests of the gateway share."""

from __future__ import annotations

import pytest

from foldline.engine.tokens.counter import exact_counter


@pytest.fixture(scope="session", autouse=True)
def _counter() -> None:
    """Where much else runs, the vocabulary takes longer to load than a request waits for its view."""
    exact_counter()
