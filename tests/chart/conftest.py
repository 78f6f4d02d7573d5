"""Each test that uses the fixture `chart` runs once for every set of values."""

from __future__ import annotations

import pytest

from tests.chart.rendered import VALUES, Rendered, rendered


@pytest.fixture(params=VALUES)
def chart(request: pytest.FixtureRequest) -> Rendered:
    """What Helm renders with a set of values."""
    return rendered(request.param)
