"""A session of a real service whose summaries a small model writes, seen as a client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from foldline.replay.embedded import embedded_service
from tests.llm.calls import MODEL
from tests.llm.conversations import CONVERSATIONS, work
from tests.llm.llama_server import llama_server
from tests.support.processes.http import client

pytestmark = pytest.mark.timeout(300)

CONTEXT_TOKENS: Final = 2_048
WINDOW_TOKENS: Final = 8_000
TARGET_TOKENS: Final = 300
JOB_SECONDS: Final = 240
SAID: Final = (*CONVERSATIONS.values(), work(range(5)))


@pytest.fixture
def service() -> Iterator[httpx.Client]:
    with llama_server(CONTEXT_TOKENS) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDLINE_SUMMARIZER", "openai")
        patch.setenv("FOLDLINE_SUMMARIZER_BASE_URL", server.base_url)
        patch.setenv("FOLDLINE_SUMMARIZER_MODEL", MODEL)
        patch.setenv("FOLDLINE_SUMMARIZER_WINDOW", str(CONTEXT_TOKENS))
        patch.setenv("FOLDLINE_WAIT_SECONDS_MAX", str(JOB_SECONDS))
        with embedded_service() as url, client(url, timeout_seconds=JOB_SECONDS + 10) as connected:
            yield connected


def test_a_job_succeeds_and_its_view_fits_with_the_rules_word_for_word(service: httpx.Client) -> None:
    session = session_of(service)
    job = service.post(
        f"{session}/compact",
        json={"summarize": True, "target_tokens": TARGET_TOKENS},
        headers={"Prefer": f"wait={JOB_SECONDS}"},
    ).json()["job"]
    assert (job["state"], job["attempts"]) == ("succeeded", 1)
    assert job["usage"]["input"] > 0
    compaction = service.get(f"{session}/compactions/{job['compaction_id']}").json()
    findings = [finding["outcome"] for finding in compaction["details"].get("gate", ())]
    assert job["degraded"] is ("replaced" in findings)
    assert job["summarizer"] == ("extractive" if job["degraded"] else "openai")
    view = service.get(f"{session}/context", params={"format": "openai"}).json()
    assert view["budget"]["fits"]
    assert view["budget"]["used"] <= TARGET_TOKENS
    assert view["messages"][0]["content"].endswith(f"\n{compaction['summary']}")
    assert {f"- {said.rule}" for said in SAID} <= set(compaction["summary"].splitlines())


def session_of(service: httpx.Client) -> str:
    """The path of a new session in which all of it was said."""
    created = service.post("/sessions", json={"model": "openai/gpt-4o", "context_window": WINDOW_TOKENS})
    session = f"/sessions/{created.json()['id']}"
    for turns in (said.turns for said in SAID):
        messages = [
            {"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(turns)
        ]
        assert service.post(f"{session}/messages", json={"messages": messages}).is_success
    return session
