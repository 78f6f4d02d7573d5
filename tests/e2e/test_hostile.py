"""Transcripts that nobody should send, to a real service: a small part of `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.hostile_requests import DATABASES, Findings, hostile_service, run_hostile

TRANSCRIPTS = 60


@pytest.mark.parametrize(("database", "seed"), [*zip(DATABASES, (27, 1), strict=True)])
def test_hostile_transcripts_get_answers_and_views_that_providers_accept(
    tmp_path: Path, database: str, seed: int
) -> None:
    found = Findings()
    with hostile_service(tmp_path, database) as service:
        run_hostile(service, range(TRANSCRIPTS), seed, found)
    assert found.wrong == {}
    assert found.views > 2 * TRANSCRIPTS
    assert {200, 201, 422} <= set(found.statuses)
