"""A summarizer that is down: its jobs fail, later ones wait and say for whom, and go on once it writes again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.summarizers.contract import (
    NOTHING_KEPT,
    ChunkTexts,
    Summarizer,
    SummarizerHeldBack,
    SummarizerUnavailable,
)
from foldline_worker.summarizers.extractive import Extractive
from foldline_worker.summarizers.registry import Guarded, SummarizerChain
from sqlalchemy import update

from foldline import migrations
from foldline.engine.messages import user
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.log.errors import Unavailable
from foldline.log.jobs.breakers import Admission, Breakers
from foldline.log.storage.store import Limits, Store
from foldline.log.storage.tables import BREAKER
from foldline.settings import load_settings
from tests.support.eventually import eventually
from tests.support.log.work import Work

DOWN = "HTTP 503"
REQUEST = SummaryInput((), (user("Rename the parser to reader, and keep the old name as an alias."),), 300)
LIMITS = Limits(summarizer_failures=2, retry_seconds=300)


class Provider:
    """A summarizer that is down until it is not."""

    def __init__(self, *, is_refusal: bool = False) -> None:
        self.is_down = True
        self.is_refusal = is_refusal
        self.calls = 0

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        self.calls += 1
        if self.is_down:
            raise SummarizerUnavailable(DOWN, is_refusal=self.is_refusal)
        return Extractive().summarize(request, cancellation, kept)

    def close(self) -> None:
        pass


def chain(store: Store, provider: Provider, *others: str) -> SummarizerChain:
    writers: dict[str, Summarizer] = {
        "fast": Guarded(provider, "fast", Breakers(store)),
        "extractive": Extractive(),
    }
    return SummarizerChain(writers, ("fast", *others), {})


def opened(folder: Path) -> Work:
    work = Work(Store(f"sqlite:///{folder / 'foldline.db'}", limits=LIMITS))
    migrations.upgrade(work.store.engine)
    return work


def test_jobs_wait_for_a_summarizer_that_is_down_and_go_on_when_it_writes_again(tmp_path: Path) -> None:
    work, provider = opened(tmp_path), Provider()
    with EmbeddedWorker(load_settings(), work.store, chain(work.store, provider)):
        for name in ("a", "b"):
            work.ends(work.request_summary(work.add_session(name)), "failed")
        waiting = work.request_summary(work.add_session("c"))
        eventually(lambda: work.job(waiting).waits_for == "fast")
        assert (work.job(waiting).state, work.job(waiting).attempts) == ("queued", 0)
        assert provider.calls == 2
        provider.is_down = False
        with work.store.write() as tx:
            # The pause is over.
            tx.execute(update(BREAKER).values(next_try_at=0))
        work.ends(work.request_summary(work.add_session("d")), "succeeded")
        work.ends(waiting, "succeeded")
        assert work.job(waiting).waits_for is None
    work.store.close()


def test_the_next_summarizer_takes_over_without_a_call_of_one_that_is_held_back(tmp_path: Path) -> None:
    work, provider = opened(tmp_path), Provider()
    with EmbeddedWorker(load_settings(), work.store, chain(work.store, provider, "extractive")):
        for name in ("a", "b", "c", "d"):
            work.ends(work.request_summary(work.add_session(name)), "succeeded")
    assert provider.calls == 2
    work.store.close()


def test_a_probe_whose_request_is_refused_shows_that_the_summarizer_works(tmp_path: Path) -> None:
    work, provider = opened(tmp_path), Provider()
    guarded, breakers = Guarded(provider, "fast", Breakers(work.store)), Breakers(work.store)
    for _ in range(LIMITS.summarizer_failures):
        with pytest.raises(SummarizerUnavailable, match=DOWN):
            guarded.summarize(REQUEST, Cancellation())
    with pytest.raises(SummarizerHeldBack):
        guarded.summarize(REQUEST, Cancellation())
    with work.store.write() as tx:
        tx.execute(update(BREAKER).values(next_try_at=0))
    provider.is_refusal = True
    with pytest.raises(SummarizerUnavailable, match=DOWN):
        guarded.summarize(REQUEST, Cancellation())
    assert breakers.admit("fast") == Admission(0)
    work.store.close()


def test_nobody_asks_for_a_summarizer_while_all_are_well(tmp_path: Path) -> None:
    class Unasked(Breakers):
        def admit(self, name: str) -> Admission | float:
            raise AssertionError(name)

    work, provider = opened(tmp_path), Provider()
    provider.is_down = False
    request = replace(REQUEST, are_writers_well=True)
    assert Guarded(provider, "fast", Unasked(work.store)).summarize(request, Cancellation()).text
    work.store.close()


def test_what_was_written_is_not_lost_when_its_end_cannot_be_noted(tmp_path: Path) -> None:
    class Away(Breakers):
        def succeeded(self, name: str, *_: object) -> None:
            raise Unavailable(name)

    work, provider = opened(tmp_path), Provider()
    provider.is_down = False
    assert Guarded(provider, "fast", Away(work.store)).summarize(REQUEST, Cancellation()).text
    work.store.close()


def test_refused_requests_hold_nobody_back(tmp_path: Path) -> None:
    work, provider = opened(tmp_path), Provider(is_refusal=True)
    with EmbeddedWorker(load_settings(), work.store, chain(work.store, provider)):
        for name in ("a", "b", "c", "d"):
            work.ends(work.request_summary(work.add_session(name)), "failed")
    assert provider.calls == 4
    work.store.close()
