"""What calls cost by published prices."""

from __future__ import annotations

import pytest

from foldline.engine.models.prices import Prices

CLAUDE = Prices(3.0, 0.3, 3.75, 15.0)


@pytest.mark.parametrize(
    ("prices", "cached", "expected"),
    [
        (CLAUDE, {}, 3.0 + 1.5),
        (CLAUDE, {"cache_read": 1_000_000}, 0.3 + 1.5),
        (CLAUDE, {"cache_write": 1_000_000}, 3.75 + 1.5),
        (CLAUDE, {"cache_read": 600_000, "cache_write": 200_000}, 0.6 + 0.18 + 0.75 + 1.5),
        # Tokens that no price is known for cost as much as others.
        (Prices(2.0, None, None, 10.0), {"cache_read": 500_000, "cache_write": 500_000}, 2.0 + 1.0),
        # A count that contradicts itself gives no negative cost.
        (CLAUDE, {"cache_read": 2_000_000}, 0.6 + 1.5),
    ],
)
def test_cached_input_has_prices_of_its_own(prices: Prices, cached: dict[str, int], expected: float) -> None:
    assert prices.cost(1_000_000, 100_000, **cached) == pytest.approx(expected)


def test_without_a_price_nothing_is_known() -> None:
    assert Prices(None, 0.3, 3.75, 15.0).cost(1, 1) is None
    assert Prices(3.0, 0.3, 3.75, None).cost(1, 1, cache_read=1) is None
