"""A process for large requests takes the next one after its work, also if nobody waits for that any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

from fastapi import Response
from foldline_api.http.bounds.large_processes import LargeProcesses
from foldline_api.http.known_keys import Caller
from starlette.datastructures import Headers

WORK_SECONDS = 1.0


@contextmanager
def opened(_order: Any, _file: Any) -> Iterator[Any]:
    yield SimpleNamespace(store=SimpleNamespace(subscribe=lambda _: None))


def work(folder: str, name: str, incoming: Any) -> Response:
    """Work that takes a while, and says what else was under way when it began."""
    del incoming
    begun, ended = Path(folder, f"{name}.begun"), Path(folder, f"{name}.ended")
    others = [path.stem for path in Path(folder).glob("*.begun") if not path.with_suffix(".ended").exists()]
    begun.touch()
    sleep(WORK_SECONDS)
    ended.touch()
    return Response(" ".join(others))


def request() -> Any:
    store = SimpleNamespace(file=None, traceparent=None, turns=None)
    service = SimpleNamespace(store=store)
    caller = Caller(name="key", tenant="ours", scopes=frozenset())
    return SimpleNamespace(service=service, caller=caller, session_id="", route="", headers=Headers({}), raw=b"")


def test_what_is_given_up_holds_up_no_other(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        processes = LargeProcesses(opened, 2, lambda: True)

        def answer(name: str) -> asyncio.Task[Response]:
            parameters = {"folder": str(tmp_path), "name": name}
            return asyncio.create_task(processes.answer(work, parameters, request()))

        try:
            # Both processes have started.
            await asyncio.gather(answer("a"), answer("b"))
            given_up = answer("c")
            await asyncio.sleep(WORK_SECONDS / 2)
            given_up.cancel()
            with suppress(asyncio.CancelledError):
                await given_up
            return bytes((await answer("d")).body)
        finally:
            await processes.close()

    assert asyncio.run(scenario()) == b"c"
