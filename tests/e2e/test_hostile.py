"""Transcripts that nobody should send, to a real service: a small part of `make fuzz`."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.hostile_requests import hostile_service, run_hostile

TRANSCRIPTS = 120


def test_hostile_transcripts_get_answers_and_views_that_providers_accept(tmp_path: Path) -> None:
    with hostile_service(tmp_path, "sqlite") as service:
        found = run_hostile(service, TRANSCRIPTS, 1, lambda: None)
    assert found.wrong == []
    assert found.views > 2 * TRANSCRIPTS
    assert {200, 201, 422} <= set(found.statuses)
