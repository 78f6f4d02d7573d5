"""The beginning of a session's last view, where a summarizer is the session's own model and may find it in its cache.

A wrong guess loses money and nothing else: what is sent is a beginning of a view, whether or not it is in a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from foldline.engine.facts import Facts
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.outline import Item, Outline, Summarized, Unit
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.summaries.cached_beginning import CachedBeginning
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.tokens.counter import count_messages
from foldline.log.compaction.summaries import Wanted
from foldline.log.storage import entry_log, segments
from foldline.log.storage.fixed_parts import FixedParts, pins_of
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.store import Limits, RidingModel, Transaction
from foldline.log.storage.tables import ENTRY
from foldline.log.views.showing import Target, show

# How long a prefix stays in the cache after its last use. (platform.claude.com/docs, "Prompt caching": 5 minutes;
# platform.openai.com/docs, "Prompt caching": 5 to 10 minutes. Google names no time.)
CACHE_SECONDS: Final = 300
# The formats whose provider finds a prefix only where an earlier request ended, or shortly after: Anthropic looks back
# from a mark for 20 blocks. The others find any prefix of an earlier request. (The same documents.)
FOUND_AT_ENDS: Final = frozenset({"anthropic"})


def rides(limits: Limits, session: Session) -> bool:
    """Whether one of the summarizers that may ride is the session's model."""
    return any(riding.model == session.model for riding in limits.riding.values())


def cached_beginning(
    tx: Transaction, path: Path, wanted: Wanted, given: SummaryInput, outline: Outline
) -> CachedBeginning | None:
    """The view that the session's model answered last, up to the end of the range.

    None if the first writer does not ride or is another model, if that view showed the range in another form than the
    originals, or if it is in no cache any more; and for a summary in two parts, which is written from transcripts.
    """
    writer = next(iter(given.writers or tx.limits.usual), "")
    riding = tx.limits.riding.get(writer)
    if riding is None or riding.model != path.session.model or wanted.by_provider or given.turn_prefix:
        return None
    answers = list(_answers(outline))
    covered = wanted.covered
    if not answers or answers[0].seq <= covered.last or not _is_cached(tx, path, covered, riding, answers):
        return None
    at = answers[0].seen.edits_at if answers[0].seen else None
    live = outline.live if at == path.edits_at else entry_log.live_edits_at(tx, path.session, at)
    then = outline if live is outline.live else entry_log.outline(tx, path, live)
    if not _shows_originals(then, covered):
        return None
    # Reasoning is shown as it was in that view.
    return _beginning(tx, replace(path, edits_at=at), _until(then, answers[0].seq - 1), covered, (writer, riding))


def _answers(outline: Outline) -> Iterator[Facts]:
    """The answers of the model, the newest first."""
    for item in reversed(outline.items):
        if isinstance(item, Unit):
            yield from (entry for entry in reversed(item.entries) if entry.role == "assistant")


def _is_cached(tx: Transaction, path: Path, covered: SummaryRange, riding: RidingModel, answers: list[Facts]) -> bool:
    """Whether the beginning was in a view that its model answered within the life of a cache."""
    newest = answers[0].seen
    fixed = FixedParts(path.session, path.session.model, pins_of(tx, path.session))
    if newest is None or newest.fixed != fixed.digest:
        return False
    if riding.format in FOUND_AT_ENDS:
        answers = [answer for answer in answers if answer.seq <= covered.last + 1]
    return bool(answers) and answers[0].seen == newest and _is_young(tx, path, answers[0].seq)


def _is_young(tx: Transaction, path: Path, seq: int) -> bool:
    parts = segments.clipped(segments.segments(tx, path), [(seq, seq)])
    (row,) = entry_log.rows_in(tx, path.session, parts, (ENTRY.c.created_at,))
    return bool(tx.now - row.created_at < CACHE_SECONDS * 1000)


def _shows_originals(then: Outline, covered: SummaryRange) -> bool:
    """Whether a view of this outline shows every entry of the range as itself, and summaries only that it replaces."""
    inside = [item for item in then.items if item.first <= covered.last and item.last >= covered.first]
    return bool(inside) and all(_is_itself(item, then, covered) for item in inside)


def _is_itself(item: Item, then: Outline, covered: SummaryRange) -> bool:
    if item.first < covered.first or item.last > covered.last:
        return False
    if isinstance(item, Summarized):
        return item.edit.summary in covered.replaces
    return not item.is_hidden and not any(then.live.changes(entry.seq) for entry in item.entries)


def _until(outline: Outline, seq: int) -> Outline:
    return replace(outline, items=[item for item in outline.items if item.last <= seq])


def _beginning(
    tx: Transaction, path: Path, then: Outline, covered: SummaryRange, writes: tuple[str, RidingModel]
) -> CachedBeginning | None:
    """The beginning in wire messages; None if what follows changes how its end is written."""
    writer, riding = writes
    session, wire_format = path.session, FORMATS[riding.format]

    def shown(outline: Outline) -> list[Message]:
        return show(tx, path, outline, Target(session.model, riding.format), stub_open=True).messages

    whole, first = shown(then), shown(_until(then, covered.last))
    before = shown(_until(then, covered.first - 1))
    read, sent = (wire_format.render(messages, session.system, session.model) for messages in (whole, first))
    if read.messages[: len(sent.messages)] != sent.messages:
        return None
    stays = len(wire_format.render(before, None, session.model).messages)
    tokens = session.fixed_tokens + count_messages(first)
    return CachedBeginning(writer, sent.system, session.tools, sent.messages, tokens, stays)
