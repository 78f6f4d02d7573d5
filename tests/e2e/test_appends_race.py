"""Clients of one service that append to one session at the same time, over HTTP, while its worker summarizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.log.race import (
    APPENDS,
    CLIENTS,
    MESSAGES,
    assert_all_arrived,
    assert_valid_view,
    batch_of,
    run_clients,
)
from tests.support.processes.databases import Server
from tests.support.processes.deployment import installed, url_of
from tests.support.processes.http import client, items_of
from tests.support.processes.server import served_with_worker

WINDOW = 5_000


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """A service with its worker, as `foldline serve` runs them."""
    with served_with_worker(database) as url:
        yield url


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text[:500]
    return response.json()


def assert_views_are_valid(connected: httpx.Client, session: str) -> None:
    for name in ("openai", "anthropic"):
        view = ok(connected.get(f"{session}/context", params={"format": name}))
        budget = view["budget"]
        assert_valid_view(name, view["messages"], view["system"], budget["used"], budget["limit"])


def race(urls: Sequence[str]) -> None:
    """Let every client append to one session, each through one of the addresses, and check the session."""
    with client(urls[0]) as connected:
        created = ok(
            connected.post("/sessions", json={"model": "nobody/nothing", "context_window": WINDOW, "system": "Go."})
        )
    session = f"/sessions/{created['id']}"
    answered: list[str] = []

    def append_all(number_of_client: int) -> None:
        with client(urls[number_of_client % len(urls)]) as connected:
            for number in range(APPENDS // CLIENTS):
                messages = batch_of(number_of_client, number)
                answer = ok(connected.post(f"{session}/messages", json={"messages": messages}))
                answered.extend(answer["entry_ids"])
                assert_views_are_valid(connected, session)

    run_clients(append_all)
    with client(urls[0]) as connected:
        items = [item for item in items_of(connected, f"{session}/entries") if item["kind"] == "message"]
        assert sorted(item["id"] for item in items) == sorted(answered)
        assert len(answered) == APPENDS * MESSAGES
        assert_all_arrived(item["message"] for item in items)
        jobs = items_of(connected, f"{session}/jobs")
        assert "succeeded" in {job["state"] for job in jobs}
        assert {job["error"] for job in jobs if job["state"] == "failed"} <= {"no-room"}
        assert_views_are_valid(connected, session)


def test_appends_of_eight_clients_arrive_whole_once_and_in_order_while_summaries_publish(url: str) -> None:
    race([url])


@pytest.mark.timeout(180)
def test_they_do_so_through_two_api_processes_with_two_worker_processes_behind_them(
    postgresql: Server, tmp_path: Path
) -> None:
    with (
        postgresql.database() as database,
        installed(tmp_path, database, FOLDLINE_SUMMARIZER="extractive") as deployment,
    ):
        apis = [deployment.api, deployment.start("api")]
        for _ in range(2):
            deployment.start("worker")
        race([url_of(api) for api in apis])
