"""The rows against peers in a long session: a view before each call of the model, whatever was said before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from foldline_api.sent_views import SentViews

from benchmarks.harness import NotMeasurable, Row, Together, seconds
from benchmarks.peers.drivers.timing import until_each_call
from benchmarks.peers.process import Peer
from benchmarks.peers.rows import written
from benchmarks.transcripts import transcript
from foldline import InMemorySession, migrations
from foldline.engine.formats import FORMATS
from foldline.engine.models.budget import Goals
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.jobs import claims, publish
from foldline.log.storage.known_entries import KnownEntries
from foldline.log.storage.rows import Path as SessionPath
from foldline.log.storage.store import Store
from foldline.log.use_cases import append, lifecycle
from foldline.settings import Settings

MESSAGES: Final = 10_000
WINDOWS: Final = (100_000, 800_000)
ROUNDS: Final = 3
TENANT: Final = "bench"
MODEL: Final = "openai/gpt-4o"
# What a service keeps by default.
CACHE_BYTES: Final[int] = Settings.model_fields["cache_bytes"].default
WIRE: Final = FORMATS["openai"]
# On each side the summarizer answers at once.
SUMMARY: Final = "The work so far. " * 100
# Of the peers, the driver's task and the bound of the ratio. pi's agent holds the list that it sends: its row
# informs, without a bound.
_PEERS: Final = (
    ("langchain", "session", "LangChain's SummarizationMiddleware, in memory", 0.5),
    ("pi", "session", "pi's session manager, on a file", 0.2),
    ("pi", "agent", "pi's agent, which keeps its messages, on a file", math.inf),
)


class _Sessions:
    """Sessions of the same messages in one database; the time of each is that of all its appends and views."""

    def __init__(self, folder: Path, messages: list[dict[str, Any]]) -> None:
        self._store = Store(f"sqlite:///{folder}/long-sessions.db", known=KnownEntries(CACHE_BYTES // 2))
        self._views = SentViews(CACHE_BYTES // 2)
        migrations.upgrade(self._store.engine)
        self._groups = list(until_each_call(messages, _is_answer))

    def close(self) -> None:
        self._store.close()

    def goals(self, window: int) -> Goals:
        """The trigger and target of a session with this window."""
        return self._new(window).goals()

    def time(self, window: int) -> float:
        """The seconds of a new session with this window."""
        name = self._new(window).session.id
        return seconds(lambda: self._run(name))

    def _new(self, window: int) -> SessionPath:
        with self._store.write() as tx:
            return lifecycle.create(tx, TENANT, lifecycle.NewSession(MODEL, context_window=window))

    def _run(self, name: str) -> None:
        for group in self._groups:
            drafts = append.prepare(WIRE.parse(group))
            with self._store.write() as tx:
                appended = append.append(tx, TENANT, name, drafts)
            if appended.step.request is not None:
                self._summarize()
            with self._store.read() as tx:
                view = self._views.read(tx, TENANT, name, WIRE.name)
            if not view.body:
                raise NotMeasurable("Foldline", "gave an empty view")

    def _summarize(self) -> None:
        """What a worker does, with a summarizer that answers at once."""
        claim = claims.claim(self._store, BACKGROUND)
        if claim is not None:
            publish.publish(self._store, claim, SummaryDraft(SUMMARY, degraded=False, summarizer="scripted"))


def _in_memory(messages: list[dict[str, Any]], window: int) -> float:
    """The seconds of a session of the library, with a view before each call of the model."""
    session = InMemorySession(model=MODEL, context_window=window)

    def run() -> None:
        for group in until_each_call(messages, _is_answer):
            session.add(group)
            session.view()

    return seconds(run)


def _is_answer(message: dict[str, Any]) -> bool:
    return bool(message["role"] == "assistant")


def rows(folder: Path, messages: int = MESSAGES) -> Iterator[Together]:
    """All rows, of sessions of so many messages; the folder takes their database and the peers' files."""
    said = transcript(messages)
    if "tool_calls" in said[-1]:
        # A view waits for the result.
        said.pop()
    name = f"{messages:,} messages, a view before each call"
    with closing(_Sessions(folder, said)) as sessions, ExitStack() as running:
        ours = {window: partial(sessions.time, window) for window in WINDOWS}
        found = []
        for window in WINDOWS:
            row = f"{name}, window {window // 1000}k"
            goals = sessions.goals(window)
            job = {"transcript": str(written(folder, said)), "folder": str(folder), "window": window}
            job |= {"trigger": goals.trigger, "target": goals.target}
            for peer, task, theirs, at_most in _PEERS:
                timed = running.enter_context(Peer(peer, task, job))
                found.append(Row(row, "append and view in process, SQLite", theirs, ours[window], timed.time, at_most))
            timed = running.enter_context(Peer("neurolink", "session", job))
            in_memory = partial(_in_memory, said, window)
            found.append(Row(row, "InMemorySession", "NeuroLink's compactor, estimates", in_memory, timed.time, 1.0))
        small, large = WINDOWS
        sides = f"window {large // 1000}k", f"window {small // 1000}k"
        found.append(Row(name, *sides, ours[large], ours[small], 1.5))
        yield Together(tuple(found), ROUNDS, is_warmed_up=False)
