"""The rows: the p99 of one tenant's appends beside each attack of another one, against that without it."""

from __future__ import annotations

import http.client
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.parse import urlsplit

import psutil

from benchmarks.harness import Row, percentile, seconds
from benchmarks.processes import running

NEW: Final = {"model": "openai/gpt-4o"}
KEYS: Final = {name: f"the-long-key-of-{name}" for name in ("attacker", "victim")}
SETTING: Final = ",".join(f"{name}:{key}" for name, key in KEYS.items())
# How long the victim's appends are timed, and what an attack needs to get going.
TIMED_SECONDS: Final = 4.0
PAUSE_SECONDS: Final = 1.5
# After an attack its jobs are still worked on. What takes less of one processor is no work; what else the machine does
# may never end.
IDLE_PERCENT: Final = 20.0
IDLE_SECONDS_MAX: Final = 60.0
# An agent does something between two appends.
BETWEEN_SECONDS: Final = 0.005
# In four seconds a few slow appends decide the p99: the median of three rounds moved by half between runs.
ROUNDS: Final = 5
BOUND: Final = 2.0
QUIET: Final = "p99 without the attack"
NEVER_QUIET: Final = "other programs, or the jobs of an attack, take the processors for a minute"


@dataclass(frozen=True, slots=True)
class Attack:
    """So many callers that send the same body; to the messages of a session of theirs, if no other path is given."""

    name: str
    callers: int
    body: Callable[[], Mapping[str, Any]]
    path: str = ""


def _letters(number: int) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": "x"} for at in range(number)]


def _messages(number: int) -> Mapping[str, Any]:
    return {"messages": _letters(number)}


def _with_keys() -> Mapping[str, Any]:
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": _many_keys()}
    return {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call]}]}


def _with_keys_in_text() -> Mapping[str, Any]:
    function = {"name": "look", "arguments": json.dumps(_many_keys())}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": calls}]}


def _many_keys() -> dict[str, int]:
    return {f"k{number}": number for number in range(700_000)}


def _compaction() -> Mapping[str, Any]:
    return {**NEW, **_messages(5_000), "target_tokens": 2_000, "summarize": True}


ATTACKS: Final = (
    Attack("16 callers append 1 message", 16, partial(_messages, 1)),
    # The most that is not large.
    Attack("16 callers append 64 messages", 16, partial(_messages, 64)),
    Attack("16 callers append 90 messages", 16, partial(_messages, 90)),
    Attack("16 callers append 450 messages", 16, partial(_messages, 450)),
    Attack("16 callers append 7,000 messages", 16, partial(_messages, 7_000)),
    Attack("2 callers append 20,000 messages", 2, partial(_messages, 20_000)),
    Attack("2 callers append 400,000 messages", 2, partial(_messages, 400_000)),
    Attack("2 callers append a call with 700,000 keys", 2, _with_keys),
    Attack("2 callers append such a call as text", 2, _with_keys_in_text),
    Attack("16 callers compact 5,000 messages", 16, _compaction, "/compact"),
)


def rows(folder: Path, url: str, database: str) -> Iterator[Row]:
    """The rows of a service with the keys of `SETTING`; the first one says what the machine itself does."""
    victim, attacker = _Caller(url, KEYS["victim"]), _Caller(url, KEYS["attacker"])
    row = partial(_row, victim, victim.new_session(), database)
    yield row("every processor computes, at the lowest priority", partial(_computing, folder))
    for attack in ATTACKS:
        yield row(attack.name, partial(_attacking, folder, attacker, attack), at_most=BOUND)


def _row(
    victim: _Caller, path: str, database: str, name: str, attacking: Callable[[], Any], *, at_most: float = math.inf
) -> Row:
    return Row(
        name=f"append while {name}, {database}",
        ours="p99, another tenant's appends",
        theirs=QUIET,
        time_ours=partial(_time_attacked, victim, path, attacking),
        time_theirs=partial(_time_quiet, victim, path),
        at_most=at_most,
        rounds=ROUNDS,
    )


class _Caller:
    """A tenant, which has one connection."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a request, as JSON."""
        self._connection.request("POST", path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        if response.status != http.client.CREATED:
            raise RuntimeError(answer)
        return answer

    def connect_anew(self) -> None:
        """Leave a connection that the service may have closed meanwhile."""
        self._connection.close()

    def new_session(self) -> str:
        """The path of a new session's messages."""
        self.connect_anew()
        return f"/sessions/{self.post('/sessions', NEW)['id']}/messages"


def _time_quiet(victim: _Caller, path: str) -> float:
    end = monotonic() + IDLE_SECONDS_MAX
    while sum(psutil.cpu_percent(PAUSE_SECONDS, percpu=True)) > IDLE_PERCENT:
        if monotonic() > end:
            raise TimeoutError(NEVER_QUIET)
    return _p99(victim, path)


def _time_attacked(victim: _Caller, path: str, attacking: Callable[[], Any]) -> float:
    with attacking():
        sleep(PAUSE_SECONDS)
        return _p99(victim, path)


def _p99(victim: _Caller, path: str) -> float:
    """The p99 of the victim's appends, one after the other."""
    body = {"messages": [{"role": "user", "content": "How far are we?"}]}
    taken: list[float] = []
    victim.connect_anew()
    end = monotonic() + TIMED_SECONDS
    while monotonic() < end or len(taken) < 2:
        taken.append(seconds(lambda: victim.post(path, body)))
        sleep(BETWEEN_SECONDS)
    return percentile(taken, 99)


@contextmanager
def _attacking(folder: Path, attacker: _Caller, attack: Attack) -> Iterator[None]:
    """The attack, from a process of its own: its callers take no time from the victim's."""
    body = folder / "attack.json"
    body.write_text(json.dumps(attack.body()))
    url = attacker.url + (attack.path or attacker.new_session())
    arguments = (url, attacker.key, str(body), "--callers", str(attack.callers))
    with running(folder, "benchmarks.attacks.attacker", *arguments, until="attacking"):
        yield


@contextmanager
def _computing(folder: Path) -> Iterator[None]:
    """As many programs as the machine has processors, which compute and do nothing else."""
    with ExitStack() as programs:
        for number in range(os.cpu_count() or 1):
            own = folder / f"computing-{number}"
            own.mkdir(exist_ok=True)
            programs.enter_context(running(own, "benchmarks.attacks.computing", until="computing"))
        yield
