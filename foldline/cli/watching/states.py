"""Reads from a service what a picture shows, with few requests, again and again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from foldline.client import Client, Refused, in_use
from foldline.terminal import CommandFailed, ExitCode

JsonDict = dict[str, Any]
# Sessions besides the one that is watched.
OTHERS: Final = 4
# A service that is busy answers later than this only if it will not answer at all.
PATIENCE_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class WatchedState:
    """A session as the routes return it, with its statistics, compactions and jobs, oldest first.

    `session` is None if the service has none; then `stats` is empty. `others` are the other sessions that got a message
    last. `other_services` are addresses that were found too. `failure` says why the rest is not of now.
    """

    url: str
    session: JsonDict | None = None
    stats: JsonDict | None = None
    compactions: Sequence[JsonDict] = ()
    jobs: Sequence[JsonDict] = ()
    others: Sequence[JsonDict] = ()
    other_services: Sequence[str] = ()
    failure: str = ""


def states(
    find: Callable[[], Sequence[str]], api_key: str | None, session_id: str | None
) -> Generator[WatchedState, None, None]:
    """What the first service that `find` finds has each time, without end. One that is away is looked for anew.

    Raises:
        CommandFailed: already the first time, there is no service, or it does not answer, or not with the session.
    """
    last: WatchedState | None = None
    while True:
        try:
            url, *others = find()
            with Client(url, api_key, timeout_seconds=PATIENCE_SECONDS) as client:
                for state in _states_of(client, session_id):
                    last = replace(state, other_services=others)
                    yield last
        except (CommandFailed, Refused) as error:
            if last is None:
                raise _ending(error) from error
            yield replace(last, failure=str(error))


def _ending(error: CommandFailed | Refused) -> CommandFailed:
    return CommandFailed(error.detail, ExitCode.BAD_INPUT) if isinstance(error, Refused) else error


def _states_of(client: Client, session_id: str | None) -> Iterator[WatchedState]:
    state = WatchedState(client.url)
    while True:
        state = _next(client, session_id, state)
        yield state


def _next(client: Client, session_id: str | None, before: WatchedState) -> WatchedState:
    latest = client.latest_sessions(OTHERS + 1)
    session = in_use(latest) if session_id is None else _named(client, latest, session_id)
    if session is None:
        return WatchedState(client.url)
    name = session["id"]
    state = replace(before, session=session, others=[other for other in latest if other["id"] != name][:OTHERS])
    if _key(before.session) != _key(session):
        state = replace(state, stats=client.stats(name), compactions=client.compactions(name))
    # A job starts, ends and is tried again without a new version of its session.
    return replace(state, jobs=client.jobs(name))


def _named(client: Client, latest: Sequence[JsonDict], session_id: str) -> JsonDict:
    return next((session for session in latest if session["id"] == session_id), None) or client.session(session_id)


def _key(session: JsonDict | None) -> tuple[str, int] | None:
    return None if session is None else (session["id"], session["version"])
