"""No tenant takes all threads: while one's requests wait for the database, another's are answered."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import pytest

from foldline.log.storage.paths import open_head
from tests.support.eventually import eventually
from tests.support.processes.api import Api, Json, open_api, user

ANN, BOB = ({"Authorization": f"Bearer the-long-key-of-{name}"} for name in ("ann", "bob"))
NEW: Json = {"model": "openai/gpt-4o"}
THREADS = 4


@pytest.fixture
def api(database: str) -> Iterator[Api]:
    keys = "ann:the-long-key-of-ann,bob:the-long-key-of-bob"
    with open_api(database, api_keys=keys, threads=THREADS) as opened:
        yield opened


def test_requests_that_wait_for_the_database_leave_threads_to_others(api: Api) -> None:
    session = api.client.post("/sessions", json=NEW, headers=ANN).json()["id"]
    path = f"/sessions/{session}"
    waiting: list[tuple[str, str, Json]] = [
        ("PATCH", path, {"auto_compact": False}),
        ("POST", f"{path}/messages", {"messages": [user("Go on.")]}),
        ("POST", f"{path}/compact", {}),
    ]

    def send(asked: tuple[str, str, Json]) -> int:
        method, where, body = asked
        return api.client.request(method, where, json=body, headers=ANN).status_code

    with ThreadPoolExecutor(3 * THREADS) as pool:
        with api.store.write() as tx:
            open_head(tx, "ann", session, lock=True)
            sent = [pool.submit(send, waiting[number % len(waiting)]) for number in range(3 * THREADS)]
            eventually(lambda: api.store.connections_in_use > 0 and all(future.running() for future in sent))
            for _ in range(20):
                assert api.client.get("/sessions", headers=BOB, timeout=5).status_code == 200
            assert not any(future.done() for future in sent)
        assert {future.result() // 100 for future in sent} == {2}


def test_exports_leave_threads_to_others(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, begun = Event(), Semaphore(0)

    def pieces(*_: object) -> Iterator[bytes]:
        begun.release()
        ended.wait()
        yield b"{}\n"

    monkeypatch.setattr("foldline_api.routes.access.tenant.export_tenant", pieces)

    def export() -> int:
        return api.client.get("/tenant/export", headers=ANN).status_code

    with ThreadPoolExecutor(2 * THREADS) as pool:
        sent = [pool.submit(export) for _ in range(2 * THREADS)]
        try:
            for _ in range(THREADS // 2):
                begun.acquire(timeout=10)
            for _ in range(5):
                assert api.client.get("/sessions", headers=BOB, timeout=5).status_code == 200
            assert not begun.acquire(timeout=0.2)
        finally:
            ended.set()
        assert {future.result() for future in sent} == {200}
