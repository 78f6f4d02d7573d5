"""Recall: finds what is out of view on the path in use. Nothing of another branch, session or tenant is looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from foldline.engine.ledger.items import ItemAt, ItemKind
from foldline.engine.ledger.reading.rules import QUESTIONS
from foldline.engine.messages import BRANCH_ROLE, Message, ToolCall, answered_call
from foldline.engine.recall.passages import bits_of, call_text, passages_of, text_of
from foldline.engine.recall.quoting import (
    NEIGHBOUR_CHARS,
    Attribution,
    Neighbour,
    Passage,
    Quotes,
    one_line,
    quotes_within,
)
from foldline.engine.recall.ranking import (
    Focus,
    PassageAt,
    Question,
    focus,
    question_of,
    weighted,
)
from foldline.engine.recall.tool import MOST_TOKENS, InvalidArguments, arguments_of
from foldline.engine.recall.visibility import OutOfView, Visibility
from foldline.log.jobs.indexing import index_session
from foldline.log.storage import entry_log, passages, paths, segments
from foldline.log.storage.passages import Hit
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import ENTRY

# Passages that the index gives, in view or not and on any branch: so many at first, and more where most of them are in
# view or elsewhere; those of them whose texts are read; and the most that are given back.
LOOKED_AT: Final = (300, 3_000, 30_000)
READ: Final = 24
MOST_PASSAGES: Final = 10
# A passage that answers so much worse than the best is about something else.
LEAST_SHARE: Final = 0.25
# Of entries that are not indexed yet, one recall indexes this many, or this many bytes of bodies and one entry more, in
# up to 0.5 s of work; a larger one is left to the sweep.
MOST_INDEXED: Final = 1_000
MOST_BYTES_INDEXED: Final = 1 << 20
LARGEST_INDEXED: Final = 1 << 23
# So many bytes of bodies are read beside those of the best hit, and so many of neighbours.
MOST_BYTES_READ: Final = 1 << 23
INCOMPLETE: Final = "[Not everything could be searched yet. Ask the same again later.]"
SUMMARY_ROLE: Final = "summary"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question, the most tokens that the answer may take, and the kinds of items to search; none searches all."""

    query: str
    max_tokens: int
    kinds: frozenset[ItemKind] = frozenset()


class Answered(NamedTuple):
    """The text that a model's call of the tool is answered with."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a recall found; not `is_complete` if entries are left that are not indexed."""

    quotes: Quotes
    is_complete: bool


class _PlaceOnPath(NamedTuple):
    """An entry: its id, who said it, the seq of its batch's first entry, and the bytes of its body."""

    entry_id: str
    role: str
    unit: int
    size: int


class _Found(NamedTuple):
    """A text of an entry, the kind of item that it is, if any, and how well it answers."""

    seq: int
    text: str
    kind: ItemKind | None
    focus: Focus


_Text: TypeAlias = tuple[int, str, ItemKind | None]


def recall(store: Store, tenant: str, session_id: str, request: RecallRequest) -> Recalled:
    """What is out of view and answers the request best.

    Entries that are not indexed yet are indexed first, but for the largest: those since the last sweep, and those of an
    earlier version.

    Raises:
        NotFound: no such session.
    """
    is_complete = index_session(store, tenant, session_id, MOST_INDEXED, MOST_BYTES_INDEXED, largest=LARGEST_INDEXED)
    with store.read() as tx:
        return Recalled(_search(tx, paths.open_head(tx, tenant, session_id), request), is_complete)


def answer_call(store: Store, tenant: str, session_id: str, call: ToolCall, most_tokens: int = MOST_TOKENS) -> Answered:
    """The answer to a model's call of the tool. A mistake in its arguments is answered too, for the model to mend.

    Raises:
        NotFound: no such session.
    """
    try:
        given = arguments_of(call)
        request = RecallRequest(given.query, min(given.max_tokens, most_tokens), given.kinds)
    except InvalidArguments as error:
        return Answered(str(error), is_error=True)
    found = recall(store, tenant, session_id, request)
    return Answered(found.quotes.text if found.is_complete else f"{found.quotes.text}\n\n{INCOMPLETE}")


def _search(tx: Transaction, path: Path, request: RecallRequest) -> Quotes:
    parts = segments.segments(tx, path)
    found = _candidates(_PathReader(tx, path, parts), question_of(request.query), request.kinds)
    return quotes_within(found, request.max_tokens)


@dataclass(frozen=True, slots=True)
class _PathReader:
    """Reads a path."""

    tx: Transaction
    path: Path
    parts: Sequence[Segment]

    def reasons(self, seqs: Iterable[int]) -> dict[int, OutOfView]:
        """Why entries are out of view, by their seqs, without those that are in view whole."""
        visibility = Visibility(entry_log.live_edits(self.tx, self.path))
        return {seq: reason for seq in seqs if (reason := visibility.reason(seq)) is not None}

    def messages(self, seqs: Iterable[int]) -> dict[int, Message]:
        return entry_log.messages_in(self.tx, self.path.session, self._at(seqs))

    def items(self, seqs: Iterable[int]) -> list[ItemAt]:
        return entry_log.items_in(self.tx, self.path.session, self._at(seqs))

    def places(self, seqs: Iterable[int]) -> dict[int, _PlaceOnPath]:
        columns = (ENTRY.c.seq, ENTRY.c.role, ENTRY.c.unit, passages.BODY_BYTES)
        rows = entry_log.rows_in(self.tx, self.path.session, self._at(seqs), columns)
        return {seq: _PlaceOnPath(segments.id_at(self.parts, seq), *rest) for seq, *rest in rows}

    def _at(self, seqs: Iterable[int]) -> list[Segment]:
        return segments.clipped(self.parts, [(seq, seq) for seq in sorted(set(seqs))])


def _candidates(reader: _PathReader, question: Question, kinds: frozenset[ItemKind]) -> list[Passage]:
    tx, session = reader.tx, reader.path.session
    counts = passages.counts(tx, session, question.terms)
    asked = weighted(question, counts, reader.path.leaf_seq)
    hits, reasons = _hits(
        reader, lambda most: passages.best(tx, session, asked.weights, counts, most, kinds=bits_of(kinds)), LOOKED_AT
    )
    chosen = [hit.at for hit in hits if hit.at.seq in reasons][:READ]
    places = reader.places(at.seq for at in chosen)
    best = {at.seq for at in chosen[:1]}
    readable = best | _readable(places, (at.seq for at in chosen if at.seq not in best))
    chosen = [at for at in chosen if at.seq in readable]
    messages = reader.messages(at.seq for at in chosen)
    texts = _items_of(reader, messages, kinds) if kinds else _passages_of(messages, chosen)
    terms = _terms_by_entry(hits)
    found = [_Found(seq, text, kind, focus(asked, text, terms[seq - 1] | terms[seq + 1])) for seq, text, kind in texts]
    found.sort(key=lambda each: (each.focus.score, each.seq), reverse=True)
    least = LEAST_SHARE * max((each.focus.score for each in found), default=0.0)
    found = [each for each in found if each.focus.score >= least]
    return _with_sources(reader, list(islice(_distinct(found), MOST_PASSAGES)), messages, places, reasons)


def _readable(places: Mapping[int, _PlaceOnPath], seqs: Iterable[int]) -> set[int]:
    """Those of these entries, the first ones first, that have together no more bytes than may be read."""
    found, bytes_left = set(), MOST_BYTES_READ
    for seq in dict.fromkeys(seqs):
        if seq in places and places[seq].size <= bytes_left:
            found.add(seq)
            bytes_left -= places[seq].size
    return found


def _hits(
    reader: _PathReader, best: Callable[[int], Sequence[Hit]], looked_at: Sequence[int]
) -> tuple[list[Hit], Mapping[int, OutOfView]]:
    """The best hits on the path, and why those of them that are out of view are so, by seq."""
    most, *more = looked_at
    found = best(most)
    hits = [hit for hit in found if segments.holds(reader.parts, hit.branch, hit.at.seq)]
    reasons = reader.reasons({hit.at.seq for hit in hits})
    if more and len(found) == most and sum(hit.at.seq in reasons for hit in hits) < MOST_PASSAGES:
        return _hits(reader, best, more)
    return hits, reasons


def _terms_by_entry(hits: Iterable[Hit]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for hit in hits:
        found[hit.at.seq] |= hit.terms
    return found


def _passages_of(messages: Mapping[int, Message], chosen: Sequence[PassageAt]) -> Iterator[_Text]:
    cut = {seq: passages_of(message) for seq, message in messages.items()}
    for seq, number in chosen:
        yield seq, cut[seq][number], None


def _items_of(reader: _PathReader, seqs: Iterable[int], kinds: frozenset[ItemKind]) -> Iterator[_Text]:
    for seq, item in reader.items(seqs):
        if item.kind in kinds:
            yield seq, item.text, item.kind


def _distinct(ranked: Iterable[_Found]) -> Iterator[_Found]:
    """Each entry once, and of entries with the same best line the first."""
    seqs: set[int] = set()
    lines: set[str] = set()
    for found in ranked:
        line = found.text[found.focus.start : found.focus.stop].strip()
        if found.focus.score > 0 and found.seq not in seqs and line not in lines:
            seqs.add(found.seq)
            lines.add(line)
            yield found


def _with_sources(
    reader: _PathReader,
    best: Sequence[_Found],
    messages: Mapping[int, Message],
    places: Mapping[int, _PlaceOnPath],
    reasons: Mapping[int, OutOfView],
) -> list[Passage]:
    """The passages with who said them, and with the questions, replies, calls and results beside them."""
    places = {found.seq: places[found.seq] for found in best}
    earlier = {seq: place.unit if place.role == "tool" else seq - 1 for seq, place in places.items()}
    # What is found itself stands there with what is before it.
    later = {seq: seq + 1 for seq in places if seq + 1 not in places and _waits_for_answer(messages[seq])}
    beside = [*earlier.values(), *later.values()]
    around_at = reader.places(beside)
    more = _readable(around_at, (seq for seq in beside if seq not in messages))
    around = {**messages, **reader.messages(more)}
    passages_found = []
    for found in best:
        seq, at, message = found.seq, earlier[found.seq], messages[found.seq]
        call, after = _call(message, around.get(at)), later.get(seq, 0)
        passages_found.append(
            Passage(
                _source(places[seq], None if call is None else call.name),
                reasons[seq],
                found.text,
                found.focus.start,
                found.focus.stop,
                found.kind,
                _before(message, around.get(at), around_at.get(at), call),
                _after(message, around.get(after), around_at.get(after)),
            )
        )
    return passages_found


def _waits_for_answer(message: Message) -> bool:
    """Whether the next message may answer this one: it calls a tool or ends with a question."""
    return bool(message.calls) or text_of(message).rstrip().endswith(QUESTIONS)


def _call(message: Message, before: Message | None) -> ToolCall | None:
    """The call that a result answers."""
    result = message.result
    return None if result is None or before is None else answered_call(result, before.calls)


def _source(place: _PlaceOnPath, tool: str | None = None) -> Attribution:
    return Attribution(place.entry_id, SUMMARY_ROLE if place.role == BRANCH_ROLE else place.role, tool)


def _before(
    message: Message, before: Message | None, place: _PlaceOnPath | None, call: ToolCall | None
) -> Neighbour | None:
    if before is None or place is None:
        return None
    if call is not None:
        return Neighbour(_source(place), one_line(call_text(call), NEIGHBOUR_CHARS))
    is_answer = message.role == "assistant" and place.role == "user"
    return Neighbour(_source(place), one_line(text_of(before), NEIGHBOUR_CHARS)) if is_answer else None


def _after(message: Message, after: Message | None, place: _PlaceOnPath | None) -> Neighbour | None:
    if after is None or place is None or bool(message.calls) is not (place.role == "tool"):
        return None
    call = _call(after, message)
    return Neighbour(_source(place, None if call is None else call.name), one_line(text_of(after), NEIGHBOUR_CHARS))
