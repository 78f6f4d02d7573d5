"""Views that are not found in a cache are not sent for long."""

from __future__ import annotations

from foldline_worker.summarizers.rides import Rides


def test_views_that_are_not_found_in_the_cache_are_not_sent_for_long() -> None:
    rides = Rides("own", are_allowed=True)
    for tokens, are_worthwhile in ((0, True), (0, True), (600, True), (0, True), (400, True), (0, False)):
        rides.note({"cache_read": tokens, "input": 1_000}, 1_000)
        assert rides.are_worthwhile is are_worthwhile


def test_a_provider_that_does_not_say_what_it_found_is_believed() -> None:
    rides = Rides("own", are_allowed=True)
    for _ in range(9):
        rides.note({"input": 1_000}, 1_000)
    assert rides.are_worthwhile
    assert not Rides("own", are_allowed=False).are_worthwhile
