"""The rows of refusals: their time says nothing of the keys and the sessions that others have."""

from __future__ import annotations

import http.client
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from benchmarks.harness import Row, seconds
from foldline import migrations
from foldline.log.access import api_keys
from foldline.log.access.api_keys import ALL_SCOPES
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from foldline.replay.embedded import kept_service

NUMBER: Final = 50
REQUESTS: Final = 400
ROUNDS: Final = 15
OWN_KEY: Final = "the-long-key-of-somebody-else"
SETTINGS: Final = {
    "FOLDLINE_API_KEYS": f"asker:{OWN_KEY}",
    "FOLDLINE_KEY_REQUESTS_PER_SECOND": "100000",
    "FOLDLINE_TENANT_REQUESTS_PER_SECOND": "100000",
}


class _Asked(NamedTuple):
    """A request, and the status of its refusal."""

    path: str
    key: str
    status: int


def rows(folder: Path) -> Iterator[Row]:
    """The rows of `foldline serve` on a new file. Those of the same request twice show what the noise is."""
    url = f"sqlite:///{folder}/refusals.db"
    with closing(Store(url)) as store:
        migrations.upgrade(store.engine)
        ids = [_new_key_id(store) for _ in range(NUMBER)]
        sessions = [_new_session(store) for _ in range(NUMBER)]
    with kept_service(url, SETTINGS) as service:
        refuse = partial(_seconds_of, service.url)
        nobodys_keys = [_guessed(f"fl_{secrets.token_hex(12)}") for _ in ids]
        others_keys = [_guessed(name) for name in ids]
        yield from _compared("key", "a wrong secret of an id", refuse, others_keys, nobodys_keys)
        nobodys = [_read(f"s_{secrets.token_hex(12)}") for _ in sessions]
        yield from _compared("session", "an id", refuse, [_read(name) for name in sessions], nobodys)


def _compared(
    what: str, asked: str, refuse: Callable[[list[_Asked]], float], others: list[_Asked], nobodys: list[_Asked]
) -> Iterator[Row]:
    sides = (f"{asked} that another tenant has", others), (f"{asked} that nobody has", nobodys)
    for ours, theirs in (sides, sides[::-1], (sides[1], sides[1])):
        yield Row(
            name=f"{REQUESTS} refusals of a {what}",
            ours=ours[0],
            theirs=theirs[0],
            time_ours=partial(refuse, ours[1]),
            time_theirs=partial(refuse, theirs[1]),
            at_most=1.05,
            rounds=ROUNDS,
        )


def _new_key_id(store: Store) -> str:
    with store.write() as tx:
        return api_keys.create(tx, "other", "of the bench", ALL_SCOPES)[0].id


def _new_session(store: Store) -> str:
    with store.write() as tx:
        return lifecycle.create(tx, "other", lifecycle.NewSession("openai/gpt-4o")).session.id


def _guessed(key_id: str) -> _Asked:
    return _Asked("/sessions", f"{key_id}_{secrets.token_hex(api_keys.SECRET_BYTES)}", http.client.UNAUTHORIZED)


def _read(session_id: str) -> _Asked:
    return _Asked(f"/sessions/{session_id}/context", OWN_KEY, http.client.NOT_FOUND)


def _seconds_of(url: str, asked: list[_Asked]) -> float:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    with closing(connection):
        return seconds(lambda: [_ask(connection, each) for each in islice(cycle(asked), REQUESTS)])


def _ask(connection: http.client.HTTPConnection, asked: _Asked) -> Any:
    connection.request("GET", asked.path, headers={"Authorization": f"Bearer {asked.key}"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != asked.status:
        raise RuntimeError(answer.decode())
