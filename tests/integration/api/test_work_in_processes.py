"""The processes for large requests: each does one thing at a time, and takes turns at SQLite's writer."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from threading import Lock
from threading import enumerate as enumerate_threads
from time import sleep
from typing import Any, TypeAlias

import pytest
from fastapi import Response
from foldline_api.app import service_on
from foldline_api.http.bounds.large_processes import LargeProcesses
from foldline_api.http.bounds.pauses import SECONDS_MAX, Pauses
from foldline_api.http.bounds.pieces import Pieces
from foldline_api.http.known_keys import Caller
from foldline_api.http.request import ApiRequest
from starlette.datastructures import Headers

from foldline.active_tenants import ActiveTenants
from foldline.cli.database import open_store
from foldline.cli.serving.api_server import open_service
from foldline.log.errors import OutcomeUnknown
from foldline.log.storage.store import Store
from foldline.settings import Settings
from tests.support.eventually import eventually
from tests.support.processes.databases import sqlite_database

SECONDS = 30
STEP_SECONDS = 0.01
PIECE = 1 << 16
# More than a pipe holds.
LARGE = 1 << 20
Answer: TypeAlias = Callable[..., "asyncio.Task[Response]"]


def work(folder: Path, name: str, until: str, incoming: ApiRequest) -> Response:
    """Work that ends when there is a file of this name, and then writes; it answers with what else is under way."""
    (folder / f"{name}.begun").touch()
    while not (folder / until).exists():
        sleep(STEP_SECONDS)
    with incoming.service.store.write():
        (folder / f"{name}.ended").touch()
    return Response(" ".join(sorted(under_way(folder))))


def read(incoming: ApiRequest, **_parameters: Any) -> Response:
    """The body of a request, which the process has read before."""
    return Response(incoming.raw)


def under_way(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.begun") if not path.with_suffix(".ended").exists()}


async def becomes(is_so: Callable[[], bool]) -> None:
    await asyncio.to_thread(eventually, is_so, SECONDS)


@asynccontextmanager
async def processes(folder: Path, number: int, pauses: Pauses | None = None) -> AsyncIterator[tuple[Store, Answer]]:
    """A store, and what begins such work in one of `number` processes, for which a tenant may pause."""
    with sqlite_database() as url, open_store(Settings(database_url=url)) as store:
        settings = Settings(database_url=url)
        service = service_on(settings, store)
        found = LargeProcesses(partial(open_service, settings), number, lambda: True)

        def answer(name: str, until: str = ".", body: bytes = b"", **more: Any) -> asyncio.Task[Response]:
            caller = Caller(tenant="ours", name="key")
            pieces = Pieces()
            for at in range(0, len(body), PIECE):
                pieces.add(body[at : at + PIECE])
            incoming = ApiRequest(service, caller, "", "", Headers({}), pieces)
            parameters: dict[str, Any] = {"folder": folder, "name": name, "until": until, **more}
            return asyncio.create_task(found.answer(read if body else work, parameters, incoming, pauses))

        try:
            yield store, answer
        finally:
            await found.close()


def test_what_is_given_up_keeps_its_process_until_it_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        others = len(active_children())
        async with processes(tmp_path, 2) as (_, answer):
            given_up = answer("a", until="go")
            await becomes(lambda: under_way(tmp_path) == {"a"})
            given_up.cancel()
            with suppress(asyncio.CancelledError):
                await given_up
            # The other process is free, and there is none for a third.
            assert (await asyncio.wait_for(answer("b"), SECONDS)).body == b"a"
            second, third = answer("c", until="go"), answer("d")
            await becomes(lambda: under_way(tmp_path) == {"a", "c"})
            await asyncio.sleep(20 * STEP_SECONDS)
            assert (under_way(tmp_path), len(active_children()) - others) == ({"a", "c"}, 2)
            (tmp_path / "go").touch()
            await asyncio.wait_for(asyncio.gather(second, third), SECONDS)
            await becomes(lambda: not under_way(tmp_path))

    asyncio.run(scenario())


@pytest.mark.parametrize("is_awaited", [True, False])
def test_a_tenant_pauses_after_its_work_and_for_longest_if_nobody_waits_for_it(
    tmp_path: Path, *, is_awaited: bool
) -> None:
    async def scenario() -> None:
        pauses = Pauses(ActiveTenants(), now=lambda: 0.0)
        pauses.active.note("another")
        async with processes(tmp_path, 1, pauses) as (_, answer):
            asked = answer("a", until="go")
            await becomes(lambda: under_way(tmp_path) == {"a"})
            assert pauses.left("ours") == 0
            if is_awaited:
                (tmp_path / "go").touch()
                await asyncio.wait_for(asked, SECONDS)
                assert pauses.left("ours") > 0
            else:
                asked.cancel()
                with suppress(asyncio.CancelledError):
                    await asked
                assert pauses.left("ours") == SECONDS_MAX
                (tmp_path / "go").touch()

    asyncio.run(scenario())


def test_a_process_takes_turns_with_the_writers_of_the_service(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with processes(tmp_path, 1) as (store, answer):
            assert store.turns is not None
            turns = store.turns
            with turns.alone():
                writing = answer("a")
                await becomes(lambda: turns.waiting == 1)
                assert under_way(tmp_path) == {"a"}
            await asyncio.wait_for(writing, SECONDS)
            assert turns.waiting == 0

    asyncio.run(scenario())


def test_each_request_gets_its_own_body(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with processes(tmp_path, 1) as (_, answer):
            bodies = [bytes([number]) * (LARGE + number) for number in (1, 2, 3)]
            given_up = answer("a", until="go")
            await becomes(lambda: under_way(tmp_path) == {"a"})
            given_up.cancel()
            answers = [answer("b", body=body) for body in bodies]
            (tmp_path / "go").touch()
            found = await asyncio.wait_for(asyncio.gather(*answers), SECONDS)
            assert [each.body for each in found] == bodies

    asyncio.run(scenario())


def test_a_process_that_is_killed_while_it_gets_a_body_is_replaced(tmp_path: Path) -> None:
    async def scenario() -> None:
        others = {process.pid for process in active_children()}
        async with processes(tmp_path, 1) as (_, answer):
            await asyncio.wait_for(answer("a"), SECONDS)
            (its,) = (process for process in active_children() if process.pid not in others)
            os.kill(its.pid or 0, signal.SIGSTOP)
            sent = answer("b", body=b"b" * LARGE)
            await becomes(is_sending)
            its.kill()
            with pytest.raises(OutcomeUnknown):
                await asyncio.wait_for(sent, SECONDS)
            assert (await asyncio.wait_for(answer("c", body=b"c" * LARGE), SECONDS)).body == b"c" * LARGE
            await becomes(lambda: not is_sending())

    asyncio.run(scenario())


def is_sending() -> bool:
    return any(thread.name == "foldline-body" for thread in enumerate_threads())


def test_the_body_of_a_request_that_never_began_is_no_other_s(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with processes(tmp_path, 1) as (_, answer):
            with pytest.raises(TypeError, match="pickle"):
                await asyncio.wait_for(answer("a", body=b"a" * LARGE, more=Lock()), SECONDS)
            # That process ends rather than to read what follows.
            with pytest.raises(OutcomeUnknown):
                await asyncio.wait_for(answer("b", body=b"b" * LARGE), SECONDS)
            assert (await asyncio.wait_for(answer("c", body=b"c" * LARGE), SECONDS)).body == b"c" * LARGE

    asyncio.run(scenario())
