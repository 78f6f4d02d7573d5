"""A claim reads a long range after it has the job, when others can write again."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.job_state import JobState
from foldline.log.jobs import claims, publish
from foldline.log.jobs.writing.provider_calls import provider_call
from foldline.log.storage import paths
from tests.support.log.sessions import TENANT, Scene, turns


def test_a_long_range_is_read_while_others_write(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(*turns(claims.LONG_RANGE, 60))
    written: list[int] = []

    def reading(*given: Any) -> Any:
        with scene.store.write() as other:
            other.wait_at_most(1_000)
            written.append(paths.open_head(other, TENANT, scene.id, lock=True).session.version)
        return provider_call(*given)

    monkeypatch.setattr(claims, "provider_call", reading)
    claim, draft = scene.claimed(), SummaryDraft("The gist.", degraded=False, summarizer="scripted")
    assert len(written) == 1
    assert len(claim.request.items) > claims.LONG_RANGE
    assert publish.publish(scene.store, claim, draft) is JobState.SUCCEEDED
