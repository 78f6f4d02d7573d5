"""A summarizer gets the headings of the session's policy, also after they have changed."""

from __future__ import annotations

from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.jobs import publish
from foldline.log.use_cases import lifecycle
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Scene, turns
from tests.support.processes.databases import only_sqlite

# What a summary says does not depend on where it is stored.
database_kind = only_sqlite


def worked(scene: Scene) -> str:
    """Writes a summary as the extractive summarizer does; its text."""
    claim = scene.claimed()
    text = extractive.summarize(claim.request)
    assert (
        publish.publish(scene.store, claim, SummaryDraft(text, degraded=False, summarizer="extractive")) == "succeeded"
    )
    return text


def test_a_summary_has_the_headings_of_the_policy_in_force(new_scene: NewScene) -> None:
    scene = new_scene(policy={"headings": "neurolink"})
    scene.append({"role": "user", "content": "You must keep the API."}, *turns(7, 60))
    assert worked(scene).startswith("## Primary Request and Intent\n- You must keep the API.\n")

    with scene.store.write() as tx:
        lifecycle.change(tx, TENANT, scene.id, {"policy": {"headings": "pi"}})
    scene.append(*turns(7, 60))
    later = worked(scene)
    assert "## Constraints & Preferences\n- You must keep the API." in later
    assert "## Primary Request" not in later
