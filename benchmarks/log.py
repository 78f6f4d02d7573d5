"""The log's rows: appends in long and short sessions, above the trigger, with a summarizer that is down; recalls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import text

from benchmarks.harness import Row, seconds
from benchmarks.prefix_cost.corpus import parsed, sessions
from benchmarks.transcripts import transcript
from foldline import migrations
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import claims, endings
from foldline.log.jobs.indexing import index_session
from foldline.log.storage.store import Store
from foldline.log.use_cases import append, compact, lifecycle
from foldline.log.use_cases.finding import recall

APPENDS: Final = 100
LONG_ENTRIES: Final = 100_000
SHORT_ENTRIES: Final = 1_000
TENANT: Final = "bench"
NEW: Final = lifecycle.NewSession("openai/gpt-4o", context_window=100_000_000)
LARGE_WINDOW: Final = 800_000
MESSAGE: Final = append.prepare(FORMATS["openai"].parse([{"role": "user", "content": " fold" * 200}]))
MESSAGES_AT_ONCE: Final = 50
# As many recorded sessions as a round appends in a second or two.
RECALLED_ENTRIES: Final = 10_000
# Appends in a round. Those of all rounds together leave a session on its side of the trigger, and within its limit.
LARGE_APPENDS: Final = 40
# Where the session below the trigger begins, as a share of it.
BELOW_SHARE: Final = 0.75
# The window of sessions whose summarizer is down, and their appends in a round, over which they compact a few times.
PENDING_WINDOW: Final = 32_000
PENDING_APPENDS: Final = 400
# Without a stage that summarizes, nothing can be done about a talk without tools.
NOTHING_TO_DO: Final = {"stages": ["deduplicate", "prune"]}


def rows(database: str, url: str) -> Iterator[Row]:
    """The rows, over sessions in one database, named for its kind; none of them compacts."""
    store = Store(url)
    migrations.upgrade(store.engine)
    long = _filled(store, LONG_ENTRIES)

    def time_short() -> float:
        short = _filled(store, SHORT_ENTRIES)
        return seconds(lambda: _append_all(store, short))

    yield Row(
        name=f"append in a long session, {database}",
        ours=f"in one of {LONG_ENTRIES:,} entries",
        theirs=f"in one of {SHORT_ENTRIES:,}",
        time_ours=lambda: seconds(lambda: _append_all(store, long)),
        time_theirs=time_short,
        at_most=1.1,
    )
    for state, policy in (("a job is under way", None), ("nothing can be done", NOTHING_TO_DO)):
        yield Row(
            name=f"append above the trigger of {LARGE_WINDOW // 1000}k, {database}",
            ours=f"p50 above, {state}",
            theirs="p50 below",
            time_ours=_time_large(store, 1.0, policy),
            time_theirs=_time_large(store, BELOW_SHARE),
            at_most=1.5,
        )
    yield _without_summarizer(store, database)
    yield _recall(store, database)
    store.close()


def _without_summarizer(store: Store, database: str) -> Row:
    """Appends to sessions that hide what no summarizer summarizes, as each of its jobs fails."""
    long = _pending(store, 10_000)
    return Row(
        name=f"append with the summarizer down, {database}",
        ours="in a session of 10,000 entries",
        theirs="in one of 100",
        time_ours=lambda: _append_pending(store, long, PENDING_APPENDS),
        time_theirs=lambda: _append_pending(store, _pending(store, 100), PENDING_APPENDS),
        at_most=1.3,
    )


def _pending(store: Store, entries: int) -> str:
    """The id of a new session with so many entries, most of which are hidden."""
    with store.write() as tx:
        name = lifecycle.create(
            tx, TENANT, lifecycle.NewSession("openai/gpt-4o", context_window=PENDING_WINDOW)
        ).session.id
    _append_pending(store, name, entries)
    return name


def _append_pending(store: Store, name: str, entries: int) -> float:
    """The seconds of so many appends of one message; a job that they queue fails at once."""
    total = 0.0
    for number in range(entries):
        text = f"Message {number}: server {number} listens on port {8000 + number % 1000}. {' fold' * 150}"
        drafts = append.prepare(FORMATS["openai"].parse([{"role": "user", "content": text}]))
        start = time.perf_counter()
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts)
        total += time.perf_counter() - start
        if (claim := claims.claim(store, BACKGROUND)) is not None:
            endings.fail(store, claim, "the summarizer is down")
    return total


def _recall(store: Store, database: str) -> Row:
    """Recalls in sessions whose entries are out of view, with questions of words that they have."""
    messages = [message for session in sessions() for message in parsed(session)]
    messages *= -(-RECALLED_ENTRIES // len(messages))
    long, short = (_out_of_view(store, messages[:entries]) for entries in (RECALLED_ENTRIES, RECALLED_ENTRIES // 100))
    return Row(
        name=f"recall, {database}",
        ours=f"p50 in {RECALLED_ENTRIES:,} entries",
        theirs="p50 in a hundredth of them",
        time_ours=lambda: _recall_each(store, long, messages),
        time_theirs=lambda: _recall_each(store, short, messages),
        at_most=20,
        ours_at_most=0.020,
    )


def _out_of_view(store: Store, messages: Sequence[Message]) -> str:
    """The id of a new session with these messages, of which only the newest are in view."""
    with store.write() as tx:
        name = lifecycle.create(tx, TENANT, NEW).session.id
    drafts = append.prepare(messages)
    for start in range(0, len(drafts), 500):
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts[start : start + 500])
    with store.write() as tx:
        if not store.is_sqlite:
            # What autovacuum does within a minute.
            tx.execute(text("ANALYZE"))
        request = SummaryRequest(is_asked=True, target_tokens=2_000)
        compact.compact(tx, TENANT, name, request, summarize=False)
    index_session(store, TENANT, name, len(messages) + 1)
    return name


def _recall_each(store: Store, name: str, messages: Sequence[Message]) -> float:
    """The median seconds of recalls, each asking for words of one of the messages."""
    said = [message.text.split()[:200:25] for message in messages[:1_000:25]]
    questions = [" ".join(words) for words in said if words]
    return statistics.median(_recall_seconds(store, name, question) for question in questions)


def _recall_seconds(store: Store, name: str, question: str) -> float:
    return seconds(lambda: recall.recall(store, TENANT, name, recall.RecallRequest(question, 2_000)))


def _time_large(store: Store, share: float, policy: dict[str, Any] | None = None) -> Callable[[], float]:
    """A timer of appends, in median seconds, to a new session with this share of its trigger."""
    with store.write() as tx:
        new = lifecycle.NewSession("openai/gpt-4o", context_window=LARGE_WINDOW, policy=policy)
        path = lifecycle.create(tx, TENANT, new)
    name = path.session.id
    while path.kept <= path.goals().trigger * share:
        with store.write() as tx:
            path = append.append(tx, TENANT, name, MESSAGE * MESSAGES_AT_ONCE).path

    def once() -> None:
        with store.write() as tx:
            append.append(tx, TENANT, name, MESSAGE)

    return lambda: statistics.median(seconds(once) for _ in range(LARGE_APPENDS))


def _filled(store: Store, entries: int) -> str:
    """The id of a new session."""
    with store.write() as tx:
        name = lifecycle.create(tx, TENANT, NEW).session.id
    drafts = append.prepare(FORMATS["openai"].parse(transcript(entries)))
    for start in range(0, len(drafts), 500):
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts[start : start + 500])
    return name


def _append_all(store: Store, name: str) -> None:
    for number in range(APPENDS):
        drafts = append.prepare(FORMATS["openai"].parse([{"role": "user", "content": f"Message {number}. " * 60}]))
        with store.write() as tx:
            append.append(tx, TENANT, name, drafts)
