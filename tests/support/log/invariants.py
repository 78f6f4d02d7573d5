"""What must hold of a session after every step, each as a function of the session and its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.formats import FORMATS, rules
from foldline.engine.messages import Message, Text, ToolResult
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.outline import Item, Summarized
from foldline.engine.tokens.counter import count_messages, count_system, scaled
from foldline.engine.wording import marker_tokens, pinned, stub_tokens, summary_frame_tokens
from foldline.log.compaction import summaries
from foldline.log.errors import CallsOpen
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import entries, history, views
from tests.support.log.pair import SESSION, Pair
from tests.support.log.reference import Reference
from tests.support.log.reference_parts import Entry, Job, fold
from tests.support.log.sessions import TENANT

SMALLEST = SMALLEST_SUMMARY + summary_frame_tokens()


def every_branch_is_what_its_entries_amount_to(pair: Pair) -> None:
    """Segments, live edits, totals, what is pending and open calls, against a walk, a fold and a recount."""
    reference = pair.reference
    with pair.store.read() as tx:
        session = paths.open_head(tx, TENANT, SESSION).session
        assert (session.head, session.branches) == (reference.head, len(reference.branches))
        for branch in reference.branches:
            path = paths.branch_path(tx, session, branch.number)
            assert path.next_summary_at == branch.next_summary_at
            _check_path(tx, path, reference)


def _check_path(tx: Transaction, path: Path, reference: Reference) -> None:
    walk = [entry.id for entry in reference.path(path.branch)]
    runs = [(part.branch, seq) for part in segments.segments(tx, path) for seq in range(part.first, part.last + 1)]
    assert [segments.entry_id(*at) for at in runs] == walk, "segments equal a parent walk"
    folded, live = fold(reference.path(path.branch)).edits, entry_log.live_edits(tx, path)
    assert (live.cells, live.hidden, live.condensed) == (folded.cells, folded.hidden, folded.condensed)
    assert live.interims == folded.interims
    assert set(live.barred) == set(folded.barred)
    outline = reference.outline(path.branch)
    assert path.kept == outline.tokens, "kept totals equal a recount"
    assert path.estimated in {None, reference.seen(path.branch)}
    assert path.raw == reference.outline(path.branch, is_raw=True).tokens
    assert path.pending_tokens == outline.pending_tokens
    assert path.open_calls == reference.open_calls(path.branch)
    for summary, later in zip(live.condensed, live.condensed[1:], strict=False):
        assert summary.last < later.first
    assert all(summary.tokens < summary.original_tokens for summary in live.condensed)


def originals_are_readable(pair: Pair) -> None:
    expected = pair.reference.path(pair.reference.head)
    with pair.store.read() as tx:
        found = entries.entries(tx, TENANT, SESSION, 0, 10_000).items
        listed = history.compactions(tx, TENANT, SESSION)
    assert [(entry.id, entry.kind) for entry in found] == [(entry.id, entry.kind) for entry in expected]
    for entry, original in zip(found, expected, strict=True):
        assert original.message is None or entry.body == original.message.source
        if original.kind == "branch_summary":
            assert entry.body["details"] == summaries.details(original.files), (
                "the files include those of nested summaries"
            )
    assert [compaction.id for compaction in listed if compaction.is_live] == pair.live
    stored = [compaction.summary_facts["details"] for compaction in listed if compaction.summary_facts]
    published = [entry for entry in expected if entry.kind == "compaction" and entry.summary]
    assert stored == [summaries.details(entry.files) for entry in published], (
        "the files are those of all that is covered"
    )


def jobs_match_the_requests(pair: Pair) -> None:
    assert pair.jobs() == pair.expected_jobs()
    for branch in pair.reference.branches:
        for state in ("queued", "running"):
            assert len(pair.reference.jobs_of(branch.number, state)) <= 1, "single flight"


def what_is_pending_has_a_job_or_a_visible_failure(pair: Pair) -> None:
    head = pair.reference.branches[pair.reference.head]
    if not pair.reference.outline(head.number).pending_tokens:
        return
    newest = newest_job(pair.reference)
    has_failed = newest is not None and newest.state in {"failed", "cancelled"}
    is_visible = has_failed or pair.reference.jobs_of(head.number, "queued", "running")
    assert is_visible or pair.store.now < head.next_summary_at, "pending, and nobody knows"


def newest_job(reference: Reference) -> Job | None:
    """The newest job of the branch in use that was not merged into another or found needless."""
    states = ("queued", "running", "succeeded", "failed", "cancelled")
    return next(reversed(reference.jobs_of(reference.head, *states)), None)


def the_view_is_what_originals_and_edits_give(pair: Pair) -> None:
    with pair.store.read() as tx:
        shown = views.view(tx, TENANT, SESSION, must_fit=False)
    assert shown.messages == pair.reference.view(pair.reference.head, keep_empty=True)
    assert shown.used == pair.reference.used(pair.reference.head)


def a_view_fits_and_is_valid_or_says_why_not(pair: Pair) -> None:
    reference = pair.reference
    with pair.store.read() as tx:
        if reference.used(reference.head) > reference.limit:
            with pytest.raises(ViewDoesNotFit):
                views.view(tx, TENANT, SESSION, stub_open=True)
            _check_that_it_cannot_fit(reference)
            return
        shown = views.view(tx, TENANT, SESSION, stub_open=True)
        if reference.open_calls(reference.head):
            with pytest.raises(CallsOpen):
                views.view(tx, TENANT, SESSION)
    assert shown.messages == reference.view(reference.head)
    counted = count_messages(shown.messages) + count_system(reference.system)
    assert scaled(counted, reference.multiplier) == shown.used <= reference.limit, "one count"
    for name, wire_format in FORMATS.items():
        rendered = wire_format.render(shown.messages, reference.system)
        assert rules.check(name, rendered.messages, rendered.system) == []
    _check_that_all_is_accounted_for(reference, shown.messages)


def _check_that_all_is_accounted_for(reference: Reference, shown: Sequence[Message]) -> None:
    """Each message is under a live summary, hidden, edited, or in the view word for word; so are pins."""
    outline, texts = reference.outline(reference.head), set(_texts(shown))
    messages = [entry for entry in reference.path(reference.head) if entry.said is not None]
    away = [item for item in outline.items if isinstance(item, Summarized) or item.is_hidden]
    for entry in messages:
        is_away = any(item.first <= entry.seq <= item.last for item in away)
        if not is_away and entry.seq not in outline.live.cells:
            assert set(_texts([entry])) - {""} <= texts, "a message is neither in view nor accounted for"
    assert {reference.texts[edit.summary] for edit in outline.live.condensed} <= texts
    assert not reference.pins or pinned(reference.pins) in texts
    said = [entry.message for entry in messages if entry.message and entry.message.role == "user"]
    assert not said or said[-1] in shown, "the last user message is in view"


def _texts(messages: Sequence[Message | Entry]) -> Iterator[str]:
    for message in messages:
        inner = message.said if isinstance(message, Entry) else message
        for part in inner.parts if inner else ():
            for piece in part.content if isinstance(part, ToolResult) else (part,):
                if isinstance(piece, Text):
                    yield piece.text


def _check_that_it_cannot_fit(reference: Reference) -> None:
    """Only what may not be edited may exceed the budget; undo and redo alone edit nothing further."""
    if not reference.auto_compact or reference.path(reference.head)[-1].kind in {"undo", "redo"}:
        return
    outline = reference.outline(reference.head)
    last_user = outline.items[outline.last_user] if outline.last_user >= 0 else None
    fixed = [item for item in outline.items if isinstance(item, Summarized) or item is last_user or item.is_open]
    stubs = stub_tokens() * len(reference.open_calls(reference.head))
    slack = 2 * (SMALLEST + marker_tokens())
    least = sum(map(_tokens, fixed)) + reference.overhead + stubs + slack
    assert scaled(least, reference.multiplier) > reference.limit, "the view does not fit, and could"


def _tokens(item: Item) -> int:
    return item.edit.tokens if isinstance(item, Summarized) else item.tokens


INVARIANTS = (
    every_branch_is_what_its_entries_amount_to,
    originals_are_readable,
    jobs_match_the_requests,
    what_is_pending_has_a_job_or_a_visible_failure,
    the_view_is_what_originals_and_edits_give,
    a_view_fits_and_is_valid_or_says_why_not,
)
