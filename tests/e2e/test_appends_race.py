"""Clients of one service that append to one session at the same time, over HTTP, while its worker summarizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.app import create_app
from sessions.settings import Settings
from tests.support.http import client
from tests.support.race import APPENDS, CLIENTS, MESSAGES, assert_all_arrived, assert_valid_view, batch_of, run_clients
from tests.support.server import opened_store, served
from worker.embedded import EmbeddedWorker
from worker.summarizers import create_summarizer

WINDOW = 5_000


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """A service with its worker, as `foldline serve` runs them."""
    settings = Settings()
    with opened_store(database) as store:
        app = create_app(settings, store)
        with EmbeddedWorker(settings, store, create_summarizer(settings)), served(app) as url:
            yield url


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text[:500]
    return response.json()


def assert_views_are_valid(connected: httpx.Client, session: str) -> None:
    for name in ("openai", "anthropic"):
        view = ok(connected.get(f"{session}/context", params={"format": name}))
        budget = view["budget"]
        assert_valid_view(name, view["messages"], view["system"], budget["used"], budget["limit"])


def all_of(connected: httpx.Client, path: str) -> list[Any]:
    """The items of every page of a list."""
    page = ok(connected.get(path, params={"limit": 100}))
    items: list[Any] = page["items"]
    while page["next_cursor"]:
        page = ok(connected.get(path, params={"limit": 100, "cursor": page["next_cursor"]}))
        items += page["items"]
    return items


def test_appends_of_eight_clients_arrive_whole_once_and_in_order_while_summaries_publish(url: str) -> None:
    with client(url) as connected:
        created = ok(
            connected.post("/sessions", json={"model": "nobody/nothing", "context_window": WINDOW, "system": "Go."})
        )
    session = f"/sessions/{created['id']}"
    answered: list[str] = []

    def append_all(number_of_client: int) -> None:
        with client(url) as connected:
            for number in range(APPENDS // CLIENTS):
                messages = batch_of(number_of_client, number)
                answer = ok(connected.post(f"{session}/messages", json={"messages": messages}))
                answered.extend(answer["entry_ids"])
                assert_views_are_valid(connected, session)

    run_clients(append_all)
    with client(url) as connected:
        items = [item for item in all_of(connected, f"{session}/entries") if item["kind"] == "message"]
        assert sorted(item["id"] for item in items) == sorted(answered)
        assert len(answered) == APPENDS * MESSAGES
        assert_all_arrived(item["message"] for item in items)
        jobs = all_of(connected, f"{session}/jobs")
        assert "succeeded" in {job["state"] for job in jobs}
        assert {job["error"] for job in jobs if job["state"] == "failed"} <= {"no-room"}
        assert_views_are_valid(connected, session)
