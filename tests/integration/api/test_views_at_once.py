"""A view that is asked for again needs no thread on SQLite without keys; it waits for nothing there either."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import httpx
import pytest

from foldline.engine.formats import FORMATS
from foldline.log.errors import Unavailable
from foldline.log.storage.paths import open_head
from foldline.log.storage.store import Store
from foldline.log.use_cases import append
from foldline.log.use_cases.views import version_of
from tests.support.eventually import eventually
from tests.support.log.sessions import Scene, open_store
from tests.support.processes.api import Api, Json, open_api, user
from tests.support.processes.databases import sqlite_database

THREADS = 2


@pytest.fixture
def api() -> Iterator[Api]:
    with sqlite_database() as url, open_api(url, threads=THREADS) as opened:
        yield opened


@pytest.fixture
def store() -> Iterator[Store]:
    with sqlite_database() as url, open_store(url) as opened:
        yield opened


def say_later(api: Api, session: str, text: str) -> Json:
    answer: Json = api.client.post(f"{session}/messages", json={"messages": [user(text)]}, timeout=60).json()
    return answer


def asked_again(api: Api, session: str, query: str = "") -> httpx.Response:
    """The view of a session, after which the next one needs no thread."""
    answers = [api.client.get(f"{session}/context{query}") for _ in range(2)]
    assert answers[0].content == answers[1].content
    return answers[0]


@pytest.mark.parametrize("query", ["", *(f"?format={name}" for name in FORMATS)])
def test_a_view_that_was_sent_is_sent_again_while_all_threads_wait(api: Api, query: str) -> None:
    session, other = api.session(), api.session()
    api.say(session, user("Keep it short."))
    first = asked_again(api, session, query)
    with ThreadPoolExecutor(THREADS) as pool:
        with api.store.write() as tx:
            open_head(tx, "default", other.removeprefix("/sessions/"), lock=True)
            waiting = [pool.submit(say_later, api, other, f"{number}") for number in range(THREADS)]
            eventually(lambda: all(future.running() for future in waiting))
            tag = {"If-None-Match": first.headers["etag"]}
            again = api.client.get(f"{session}/context{query}", timeout=5)
            same = api.client.get(f"{session}/context{query}", headers=tag, timeout=5)
            assert not any(future.done() for future in waiting)
        versions = sorted(future.result()["version"] for future in waiting)
    assert (again.status_code, again.content, again.headers["etag"]) == (200, first.content, first.headers["etag"])
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", first.headers["etag"])
    assert versions[0] < versions[1]


def test_a_change_by_another_process_is_seen(api: Api) -> None:
    session = api.session()
    api.say(session, user("First."))
    before = asked_again(api, session).json()
    drafts = append.prepare(FORMATS["openai"].parse([user("Second.")]))
    with open_store(str(api.store.url)) as other, other.write() as tx:
        append.append(tx, "default", session.removeprefix("/sessions/"), drafts)
    after = api.get(f"{session}/context")
    assert after["messages"] == [*before["messages"], user("Second.")]


def test_of_a_deleted_session_nothing_is_sent_again(api: Api) -> None:
    session = api.session()
    api.say(session, user("Forget this."))
    asked_again(api, session)
    assert api.client.delete(session).status_code == 204
    assert api.problem("GET", f"{session}/context")["name"] == "not-found"


def test_where_there_are_keys_a_view_waits_for_its_tenants_threads() -> None:
    key = "the-long-key-of-ann"
    headers = {"Authorization": f"Bearer {key}"}
    with sqlite_database() as url, open_api(url, threads=THREADS, api_keys=f"ann:{key}") as api:
        path = (
            f"/sessions/{api.client.post('/sessions', json={'model': 'openai/gpt-4o'}, headers=headers).json()['id']}"
        )

        def read() -> int:
            return api.client.get(f"{path}/context", headers=headers, timeout=60).status_code

        assert [read(), read()] == [200, 200]
        with ThreadPoolExecutor(THREADS + 1) as pool:
            with api.store.write() as tx:
                open_head(tx, "ann", path.removeprefix("/sessions/"), lock=True)
                body = {"messages": [user("Go on.")]}
                sent = [pool.submit(api.client.post, f"{path}/messages", json=body, headers=headers) for _ in range(2)]
                eventually(lambda: api.store.connections_in_use > 0 and all(future.running() for future in sent))
                late = pool.submit(read)
                with pytest.raises(TimeoutError):
                    late.result(timeout=0.5)
            assert late.result() == 200
        assert {future.result().status_code for future in sent} == {201}


def test_it_is_no_wait_for_a_connection_or_for_a_lock(store: Store) -> None:
    scene = Scene(store)
    assert store.reads_at_once
    began = perf_counter()
    with store.read_at_once() as tx:
        assert version_of(tx, scene.tenant, scene.id).version == scene.path.session.version
        with pytest.raises(Unavailable), store.read_at_once():
            pass
    file = sqlite3.connect(str(store.url.database), isolation_level=None)
    store.close()
    file.execute("PRAGMA locking_mode=EXCLUSIVE")
    file.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable), store.read_at_once() as tx:
        version_of(tx, scene.tenant, scene.id)
    file.close()
    assert perf_counter() - began < 5
