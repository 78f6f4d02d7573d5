"""What a model is shown over HTTP while the summarizer answers nothing but errors."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from foldline.replay.embedded import embedded_service
from tests.support.eventually import eventually
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client, items_of
from tests.support.processes.scripted_llm import Reply, ScriptedLLM

database_kind = only_sqlite

RULE = "Never push to the branch release-7 without asking Dana first."
REQUEST = "Later, also write the release notes for version 3.2."
ROUNDS = 60
WINDOW = 8_000


@pytest.fixture
def served() -> Iterator[tuple[httpx.Client, ScriptedLLM]]:
    """A service, and its summarizer, which is down."""
    with ScriptedLLM(default=Reply(text="overloaded", status=503)) as llm, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDLINE_SUMMARIZER", "openai")
        patch.setenv("FOLDLINE_SUMMARIZER_BASE_URL", llm.base_url)
        patch.setenv("FOLDLINE_SUMMARIZER_MODEL", "scripted")
        with embedded_service() as url, client(url) as service:
            yield service, llm


def test_every_view_has_the_rules_the_open_requests_and_the_newest_values(
    served: tuple[httpx.Client, ScriptedLLM],
) -> None:
    service, llm = served
    created = service.post("/sessions", json={"model": "openai/gpt-4o", "context_window": WINDOW})
    session = f"/sessions/{created.json()['id']}"
    said(service, session, "user", RULE)
    said(service, session, "user", REQUEST)
    for number in range(ROUNDS):
        said(service, session, "user", f"The time-out is {number + 30} seconds now. {'so it goes ' * 70}")
        said(service, session, "assistant", f"Understood. {'and so it is ' * 50}")

        answer = service.get(f"{session}/context", params={"format": "openai"})
        assert answer.is_success, answer.text
        shown = answer.text
        assert RULE in shown
        assert "release notes for version 3.2" in shown
        assert f"{number + 30} seconds now" in shown
        assert "not ready" not in shown
    assert service.get(f"{session}/stats").json()["pending_tokens"] > WINDOW
    eventually(lambda: "failed" in {job["state"] for job in items_of(service, f"{session}/jobs")}, 60)
    assert llm.requests, "the summarizer was never asked"


def said(service: httpx.Client, session: str, role: str, text: str) -> None:
    """Append one message."""
    answer = service.post(f"{session}/messages", json={"messages": [{"role": role, "content": text}]})
    assert answer.is_success, answer.text
