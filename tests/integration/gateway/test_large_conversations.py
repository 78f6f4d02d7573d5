"""Large conversations at the gateway: their places bound what is worked on, also where nobody waits any more."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import httpx
import pytest
from foldline_api.gateway import forwarding
from foldline_api.http.bounds.json_bounds import loads_within

from foldline.log.gateway.turns import BOUNDLESS
from tests.support.eventually import eventually
from tests.support.processes.agent_provider import agent_provider
from tests.support.processes.api import Api, open_api
from tests.support.processes.databases import sqlite_database

SAID = {"model": "scripted", "max_tokens": 10, "stream": True}


def sent(api: Api, name: str, model: str = "scripted") -> httpx.Response:
    messages = [{"role": ("user", "assistant")[at % 2], "content": f"{name} {at} {'word ' * 20}"} for at in range(31)]
    return api.client.post("/v1/messages", json={**SAID, "model": model, "messages": messages}, timeout=60)


def test_work_that_did_not_begin_in_time_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "PATIENCE_SECONDS", 0.5)
    begun: list[bytes] = []

    def loads(raw: bytes, limits: Any) -> Any:
        begun.append(raw)
        return loads_within(raw, limits)

    monkeypatch.setattr(forwarding, "loads_within", loads)
    with (
        agent_provider() as provider,
        sqlite_database() as url,
        open_api(url, threads=1, anthropic_base_url=provider.url, gateway_context_window=8_000) as api,
        ThreadPoolExecutor(4) as pool,
    ):
        with api.store.write():
            list(pool.map(lambda number: sent(api, str(number)), range(4)))
        assert "x-foldline-session" in sent(api, "later").headers
    # The first took the only thread; the last came when that was free.
    assert len(begun) == 2


@pytest.mark.parametrize("context_window", [8_000, None])
def test_what_waited_in_vain_for_its_view_gets_one_once_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, context_window: int | None
) -> None:
    monkeypatch.setattr(forwarding, "PATIENCE_SECONDS", 0.5)
    with (
        agent_provider(700) as provider,
        sqlite_database() as url,
        open_api(url, anthropic_base_url=provider.url, gateway_context_window=context_window) as api,
        ExitStack() as locked,
    ):

        def free(_: Any) -> None:
            """The database is free when the provider refuses what came."""
            locked.close()

        provider.rejects = free
        locked.enter_context(api.store.write())
        answer = sent(api, "first")
    assert (answer.status_code, provider.refusals, len(provider.requests)) == (200, 1, 2)
    assert "x-foldline-session" in answer.headers


@pytest.mark.parametrize("model", ["scripted", "claude-sonnet-4-5"])
def test_what_got_no_view_for_a_failure_gets_one_once_it_is_refused(model: str) -> None:
    with (
        agent_provider(700) as provider,
        sqlite_database() as url,
        open_api(url, anthropic_base_url=provider.url) as api,
        closing(sqlite3.connect(url.removeprefix("sqlite:///"), check_same_thread=False)) as database,
    ):

        def mend(_: Any) -> None:
            """The database has all of its tables when the provider refuses what came."""
            if len(provider.requests) == 1:
                database.execute("ALTER TABLE elsewhere RENAME TO fingerprint")

        provider.rejects = mend
        database.execute("ALTER TABLE fingerprint RENAME TO elsewhere")
        answer = sent(api, "first", model)
        session = api.client.get(f"/sessions/{answer.headers.get('x-foldline-session')}").json()
    assert (answer.status_code, provider.refusals, len(provider.requests)) == (200, 1, 2)
    assert session["context_window"] == (BOUNDLESS if model == "scripted" else 200_000)


def test_work_that_nobody_waits_for_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "PATIENCE_SECONDS", 0.5)
    with (
        agent_provider() as provider,
        sqlite_database() as url,
        open_api(
            url,
            large_requests=1,
            large_request_bytes=1_024,
            anthropic_base_url=provider.url,
            gateway_context_window=8_000,
        ) as api,
        ThreadPoolExecutor(1) as pool,
    ):
        with api.store.write():
            first = pool.submit(sent, api, "first").result()
            second = pool.submit(sent, api, "second").result()
        assert [answer.status_code for answer in (first, second)] == [200, 200]
        assert not any("x-foldline-session" in answer.headers for answer in (first, second))
        eventually(lambda: len(api.get("/sessions")["items"]) == 1)
        assert "x-foldline-session" in sent(api, "first").headers
        assert len(api.get("/sessions")["items"]) == 1
