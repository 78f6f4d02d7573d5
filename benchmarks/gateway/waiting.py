"""The rows of what an agent waits for: the first byte of an answer, and the requests that are answered in a second."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.gateway import servers
from benchmarks.gateway.agent import Agent, Answered, Unexpected
from benchmarks.gateway.conversations import bodies
from benchmarks.gateway.servers import Proxy
from benchmarks.harness import Row, Timer, seconds

LONG_TOKENS: Final = 100_000
# The window in which such a history is compacted.
SMALL_WINDOW: Final = 64_000
# The requests of a conversation in one round; the first of them is not timed.
TURNS: Final = 9
ADDED_SECONDS: Final = 0.008
# A short conversation's last request has more tokens than this, its first one less.
SHORT_TOKENS: Final = 10_000
SHORT_TURNS: Final = 5
# The conversations of a round, on all connections together.
CONVERSATIONS: Final = 64
ROUNDS: Final = 7
CONNECTIONS: Final = (8, 32)
SHARE: Final = 0.7
BARE: Final = "bare streaming proxy, httpx and Starlette"


def rows(folder: Path) -> Iterator[Row]:
    """The rows; both sides are in front of one provider."""
    with servers.providing(folder) as provider, servers.bare(folder, provider) as bare:
        with servers.gateway(folder, provider) as ours:
            yield _first_byte("passed as it came", ours, bare, _came_whole)
            yield from (_throughput(connections, ours, bare) for connections in CONNECTIONS)
        with servers.gateway(folder, provider, SMALL_WINDOW) as ours:
            yield _first_byte(f"compacted, window {SMALL_WINDOW // 1000}k", ours, bare, _came_smaller)


def _first_byte(case: str, ours: Proxy, bare: Proxy, is_right: Callable[[bytes, Answered], bool]) -> Row:
    return Row(
        name=f"first byte through the gateway, {LONG_TOKENS // 1000}k tokens of history, {case}",
        ours="p50, foldline serve, SQLite",
        theirs=f"p50, {BARE}",
        time_ours=_first_bytes(ours, lambda body, answered: bool(answered.session) and is_right(body, answered)),
        time_theirs=_first_bytes(bare, _came_whole),
        more_at_most=ADDED_SECONDS,
    )


def _came_whole(body: bytes, answered: Answered) -> bool:
    return answered.received_bytes == len(body)


def _came_smaller(body: bytes, answered: Answered) -> bool:
    return answered.received_bytes < len(body) * 0.8


def _first_bytes(proxy: Proxy, is_right: Callable[[bytes, Answered], bool]) -> Timer:
    """Times the first bytes of a new conversation's requests, in median seconds; the n-th call has the n-th one.

    Raises:
        Unexpected: the provider got something else than it should.
    """
    seeds = count()

    def once() -> float:
        taken = []
        with closing(Agent(proxy.port)) as agent:
            for body in bodies(LONG_TOKENS, TURNS, next(seeds)):
                answered = agent.send(body)
                if not is_right(body, answered):
                    raise Unexpected(answered)
                taken.append(answered.first_byte_seconds)
                if answered.session and len(taken) == 1:
                    proxy.wait_for_jobs(answered.session)
        # The first has all of its history to append, and to summarize at once, as an agent's never has.
        return statistics.median(taken[1:])

    return once


def _throughput(connections: int, ours: Proxy, bare: Proxy) -> Row:
    return Row(
        name=f"requests through the gateway, about 8k tokens of history, {connections} at once",
        ours="foldline serve, SQLite",
        theirs=BARE,
        time_ours=_all_at_once(connections, ours, has_session=True),
        time_theirs=_all_at_once(connections, bare, has_session=False),
        at_most=1 / SHARE,
        rounds=ROUNDS,
        written=_rate,
    )


def _rate(seconds_each: float) -> str:
    return f"{1 / seconds_each:.0f}/s"


def _all_at_once(connections: int, proxy: Proxy, *, has_session: bool) -> Timer:
    """Times the requests of new conversations, one after the other on each connection, in seconds for one request."""
    seeds = count()

    def once() -> float:
        conversations = [list(bodies(SHORT_TOKENS, SHORT_TURNS, next(seeds))) for _ in range(CONVERSATIONS)]
        agents = [Agent(proxy.port) for _ in range(connections)]
        first, later = ([each[part] for each in conversations] for part in (slice(1), slice(1, None)))
        send = partial(_send_all, has_session=has_session)
        with ThreadPoolExecutor(connections) as pool:

            def send_each(parts: list[list[bytes]]) -> None:
                shares = [[body for part in parts[at::connections] for body in part] for at in range(connections)]
                list(pool.map(send, agents, shares))

            # Connections are open, and the conversations known, before the clock runs.
            send_each(first)
            taken = seconds(lambda: send_each(later))
        for agent in agents:
            agent.close()
        return taken / sum(map(len, later))

    return once


def _send_all(agent: Agent, said: list[bytes], *, has_session: bool) -> None:
    for body in said:
        answered = agent.send(body)
        if bool(answered.session) is not has_session:
            raise Unexpected(answered)
