"""Clients of one service that append to one session at the same time, over HTTP, while its worker summarizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from sessions.settings import Settings
from tests.support.race import APPENDS, CLIENTS, MESSAGES, assert_all_arrived, assert_valid_view, batch_of, run_clients
from tests.support.server import opened_store, served
from worker.embedded import EmbeddedWorker
from worker.summarizers import create_summarizer

WINDOW = 5_000


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A service with its worker, as `foldline serve` runs them."""
    settings = Settings()
    with opened_store(tmp_path) as store:
        app = create_app(settings, store)
        with EmbeddedWorker(settings, store, create_summarizer(settings)), served(app) as url:
            yield url


def client_of(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=30, trust_env=False)


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text[:500]
    return response.json()


def assert_views_are_valid(client: httpx.Client, session: str) -> None:
    for name in ("openai", "anthropic"):
        view = ok(client.get(f"{session}/context", params={"format": name}))
        budget = view["budget"]
        assert_valid_view(name, view["messages"], view["system"], budget["used"], budget["limit"])


def entries_of(client: httpx.Client, session: str) -> list[Any]:
    page = ok(client.get(f"{session}/entries", params={"limit": 100}))
    items: list[Any] = page["items"]
    while page["next_cursor"]:
        page = ok(client.get(f"{session}/entries", params={"limit": 100, "cursor": page["next_cursor"]}))
        items += page["items"]
    return items


def test_appends_of_eight_clients_arrive_whole_once_and_in_order_while_summaries_publish(url: str) -> None:
    with client_of(url) as client:
        created = ok(
            client.post("/sessions", json={"model": "nobody/nothing", "context_window": WINDOW, "system": "Go."})
        )
    session = f"/sessions/{created['id']}"
    answered: list[str] = []

    def append_all(number_of_client: int) -> None:
        with client_of(url) as client:
            for number in range(APPENDS // CLIENTS):
                messages = batch_of(number_of_client, number)
                answer = ok(client.post(f"{session}/messages", json={"messages": messages}))
                answered.extend(answer["entry_ids"])
                assert_views_are_valid(client, session)

    run_clients(append_all)
    with client_of(url) as client:
        items = [item for item in entries_of(client, session) if item["kind"] == "message"]
        assert sorted(item["id"] for item in items) == sorted(answered)
        assert len(answered) == APPENDS * MESSAGES
        assert_all_arrived(item["message"] for item in items)
        jobs = ok(client.get(f"{session}/jobs"))["items"]
        assert {job["state"] for job in jobs} >= {"succeeded"}
        assert_views_are_valid(client, session)
