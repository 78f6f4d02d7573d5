"""Agents whose model signs its reasoning: no refusal of it reaches them, whatever was compacted meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from foldline_api.app import create_app
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.summarizers.registry import create_summarizer

from foldline.settings import Settings
from tests.support.processes.databases import sqlite_database
from tests.support.processes.http import post
from tests.support.processes.server import opened_store, served
from tests.support.processes.signing_provider import SigningProvider, signing_provider

CALLS = 40
TOOLS = [{"name": "look", "description": "Look at a place.", "input_schema": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize("seed", range(3))
def test_no_refusal_of_signed_reasoning_reaches_the_agent(seed: int) -> None:
    with signing_provider(seed) as provider, sqlite_database() as url, opened_store(url) as store:
        settings = Settings(anthropic_base_url=provider.url.removesuffix("/v1/messages"), gateway_context_window=9_000)
        app = create_app(settings, store)
        with EmbeddedWorker(settings, store, create_summarizer(settings)), served(app) as gateway:
            statuses = work(gateway, provider)
    assert statuses == [200] * CALLS
    assert provider.reasoning_taken > 0


def work(gateway: str, provider: SigningProvider) -> list[int]:
    """The statuses of the answers that an agent gets, which sends its whole history each time."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "Look around."}]
    statuses = []
    for number in range(CALLS):
        fixed = {"model": "claude-sonnet-4-5", "system": "You look.", "tools": TOOLS, "max_tokens": 1_000}
        answer = post(f"{gateway}/v1/messages", json={**fixed, "messages": history}, timeout=60)
        statuses.append(answer.status_code)
        if answer.is_error:
            break
        content = answer.json()["content"]
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": call, "content": "grass " * 250} for call in calls]
        said = results or [{"type": "text", "text": f"Look at place {number}. " + "It is near. " * 40}]
        history += [{"role": "assistant", "content": content}, {"role": "user", "content": said}]
    return statuses
