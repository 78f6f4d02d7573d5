"""What a call takes, by kind of content."""

from foldline.engine.messages import user
from foldline.engine.tokens.breakdown import Breakdown, estimated
from foldline.engine.tokens.estimates import ESTIMATES


def test_a_call_is_broken_down_by_estimate() -> None:
    found = estimated(
        ESTIMATES["neurolink"], 100, system="a" * 8, messages=[user("a" * 8)], prompt="", tools=[{"name": "f"}],
        files=["a" * 8, ""],
    )  # fmt: skip
    assert found.breakdown == {"system": 7, "history": 31, "prompt": 0, "tools": 3, "files": 3}
    assert (found.used, found.fits, found.usage_ratio) == (44, True, 0.44)


def test_without_a_limit_everything_is_too_much() -> None:
    assert Breakdown(0, {"history": 1}).usage_ratio == 1.0
    assert not Breakdown(0, {"history": 1}).fits
