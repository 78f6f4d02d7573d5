"""The summarizer that calls a model. What it reads is masked; what it writes is judged before anybody sees it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock, Semaphore
from typing import Final

from foldline.engine.ledger.provenance import together
from foldline.engine.models.windows import known_model
from foldline.engine.policies.policy import EXTRACTIVE
from foldline.engine.summaries import chunks, extractive
from foldline.engine.summaries.cached_beginning import CachedBeginning
from foldline.engine.summaries.composed import composed, story_tokens, with_earlier_stories
from foldline.engine.summaries.gate import Finding, GateOutcome, Story, details, judge
from foldline.engine.summaries.prompt import (
    SMALLEST_PIECE,
    SummaryDraft,
    SummaryInput,
    answer_text,
    divided,
    joined,
    prompt,
    question,
    serialize,
)
from foldline.engine.summaries.riding import input_costs, question_tokens
from foldline.engine.tokens.counter import count_text
from foldline.engine.wire import dumps
from foldline.settings import CALLS_AT_LEAST
from foldline.summarizer_file import NamedSummarizer
from foldline.telemetry.tracing import Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.bounds import Bounds, CallSize
from foldline_worker.summarizers.calls.budgets import NO_BUDGETS, Budgets
from foldline_worker.summarizers.calls.endpoint import AnswerTooLong, EndpointUnavailable, TooLong
from foldline_worker.summarizers.calls.rates import Rates
from foldline_worker.summarizers.calls.retries import Retries
from foldline_worker.summarizers.contract import NOTHING_KEPT, ChunkTexts, SummarizerUnavailable
from foldline_worker.summarizers.masking import mask, masked
from foldline_worker.summarizers.model_client import ModelClient, Spend
from foldline_worker.summarizers.rides import Rides
from foldline_worker.summarizers.wires import WIRES, WireAnswer

COST: Final = "cost_usd"
# What a summarizer that rides was sent: the session's last view, or a transcript.
INPUT: Final = "input"
VIEW: Final = "view"
TRANSCRIPT: Final = "transcript"
# A story that the gate refuses is asked for so many times in all.
ATTEMPTS: Final = 2
# The text of a chunk takes at most this share of what a call reads, so that one call merges several.
CHUNK_SHARE: Final = 5
# The calls that read what was said, as a share of all calls of a summary of many chunks.
READING_SHARE: Final = 0.8
# How long a wait for a slot takes before it looks whether the work was cancelled.
SLOT_SECONDS: Final = 0.1
# Merges of merges: each level has a fifth of the texts, so that this is more than any session needs.
MOST_LEVELS: Final = 16
# Findings of one summary that are kept.
MOST_FINDINGS: Final = 50


class LLM:
    """Calls a model, up to `concurrency` times at once over all its summaries.

    A story that the gate refuses is asked for once more. Then lines of the ledger stand in its place. One that
    `rides_cache` is sent the cached beginning of a view where there is one and that costs less than a transcript.
    """

    def __init__(
        self,
        client: ModelClient,
        bounds: Bounds,
        *,
        name: str = "openai",
        concurrency: int = CALLS_AT_LEAST,
        retries: Retries | None = None,
        rides_cache: bool = False,
        budgets: Budgets = NO_BUDGETS,
    ) -> None:
        self._name = name
        self._rides = Rides(name, are_allowed=rides_cache)
        self._client = client
        self._bounds = bounds
        self._retries = retries or Retries()
        self._slots = CallSlots(concurrency)
        self._budgets = budgets

    def close(self) -> None:
        """See `Summarizer`."""
        self._client.close()

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`."""
        spend = partial(self._budgets.spend, request.payer, prices=self._client.prices)
        writing = _Writing(self._client, self._bounds, self._retries, self._slots, kept, self._rides, spend)
        # One that was made for another writer may be in another format.
        is_ours = request.beginning is not None and request.beginning.writer == self._name
        pieces = divided(request if is_ours else replace(request, beginning=None))
        try:
            # Masked before the input is cut to fit, because half a secret would not be found.
            stories = [
                writing.story(replace(masked(piece), max_tokens=story_tokens(piece)), cancellation) for piece in pieces
            ]
        except EndpointUnavailable as error:
            raise SummarizerUnavailable(error.reason, error.retry_after_seconds, is_refusal=error.is_refusal) from error
        is_degraded = any(story.is_replaced for story in stories)
        # Lines of the ledger have what was masked for the model alone.
        written = [
            with_earlier_stories(piece) if story.is_replaced else composed(piece, story.text)
            for piece, story in zip(pieces, stories, strict=True)
        ]
        return SummaryDraft(
            joined(pieces, [piece.text for piece in written]),
            degraded=is_degraded,
            summarizer=EXTRACTIVE if is_degraded else self._name,
            model=writing.model,
            usage=dict(writing.usage),
            details={**details(writing.findings), **writing.cost, **self._input_of(writing)},
            provenance=together(piece.provenance for piece in written),
        )

    def _input_of(self, writing: _Writing) -> dict[str, str]:
        return {INPUT: VIEW if writing.is_of_view else TRANSCRIPT} if self._rides.are_allowed else {}


class CallSlots:
    """Bounds the calls that all summaries of a summarizer have open at the same time."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._free = Semaphore(number)

    @contextmanager
    def taken(self, cancellation: Cancellation) -> Iterator[None]:
        """A block with a slot, which it waits for.

        Raises:
            Cancelled: the work was cancelled meanwhile.
        """
        while not self._free.acquire(timeout=SLOT_SECONDS):
            cancellation.check()
        try:
            yield
        finally:
            self._free.release()


class _TooSmall(Exception):
    """The model's window has no room for a prompt."""


@dataclass(frozen=True, slots=True)
class _Text:
    """What stands for a chunk; `is_replaced` if no story of it could be had."""

    text: str
    is_replaced: bool = False


@dataclass(slots=True)
class _Writing:
    """The writing of one summary: its calls, and what they came to. Its chunks are written by several threads."""

    client: ModelClient
    bounds: Bounds
    retries: Retries
    slots: CallSlots
    kept: ChunkTexts
    rides: Rides
    spend: Spend
    usage: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    reported: str | None = None
    is_of_view: bool = False
    _lock: Lock = field(default_factory=Lock)

    @property
    def cost(self) -> dict[str, float]:
        """What its calls cost in US dollars, as `details`; empty where a price is not known."""
        prices = self.client.prices
        if prices is None:
            return {}
        cached = {name: self.usage[name] for name in ("cache_read", "cache_write")}
        cost = prices.cost(self.usage["input"], self.usage["output"], **cached)
        return {} if cost is None else {COST: round(cost, 6)}

    @property
    def model(self) -> str:
        """The model that wrote it, by its own name."""
        return self.reported or self.client.model

    def story(self, request: SummaryInput, cancellation: Cancellation) -> _Text:
        """The story of a request: of the cached view that ends with it, or of a transcript."""
        return self._story_of_view(request, cancellation) or self._story_of_transcript(request, cancellation)

    def _story_of_view(self, request: SummaryInput, cancellation: Cancellation) -> _Text | None:
        """The story that the model writes below the beginning of a view; None if a transcript is to be sent.

        Secrets in it are masked: what it is judged by has none.
        """
        size, beginning = self.bounds.size(request.max_tokens), request.beginning
        if beginning is None or not self._is_view_sent(request, beginning, size):
            return None
        asked = replace(request, max_tokens=size.answer)

        def ask(refused: str | None) -> WireAnswer:
            messages = [{"role": "system", "content": ""}, {"role": "user", "content": question(asked, refused)}]
            answer = self._called(messages, size.answer, cancellation, beginning)
            if refused is None:
                self.rides.note(answer.usage, beginning.tokens)
            return answer

        try:
            text = self._accepted(asked, ask, mask, is_last=False)
        except (TooLong, AnswerTooLong, _TooSmall):
            return None
        except EndpointUnavailable as error:
            # It may not take these messages, though it takes a transcript.
            if error.is_passing:
                raise
            return None
        self.is_of_view = text is not None
        return None if text is None else _Text(text)

    def _is_view_sent(self, request: SummaryInput, beginning: CachedBeginning, size: CallSize) -> bool:
        """Whether the view costs less than a transcript, and one call reads it."""
        if not self.rides.are_worthwhile:
            return False
        costs = input_costs(request, self.client.prices)
        fits = self.bounds.takes(beginning.tokens + question_tokens(request), size.answer)
        return fits and costs is not None and costs.is_view_cheaper

    def _size(self, request: SummaryInput) -> CallSize:
        """The size of a call for a request: within the model's bounds, and within what the policy has one call read."""
        size = self.bounds.size(request.max_tokens)
        return size._replace(prompt=chunks.call_size(request, size.prompt))

    def _story_of_transcript(self, request: SummaryInput, cancellation: Cancellation) -> _Text:
        """The story of what was said: of its chunks, whose texts are merged until one is left."""
        prompt_tokens = self._size(request).prompt
        fits = chunks.fits(request, prompt_tokens)
        work = [request] if fits else chunks.first_chunks(request, prompt_tokens)
        for _ in range(MOST_LEVELS):
            texts = self._texts(work[0], cancellation, fits=fits) if len(work) == 1 else self._all(work, cancellation)
            if len(work) == len(texts) == 1:
                return texts[0]
            work = chunks.merges(request, [text.text for text in texts], self._size(request).prompt)
            fits = False
        return self._replaced(request)

    def _all(self, work: Sequence[SummaryInput], cancellation: Cancellation) -> list[_Text]:
        """The texts of chunks in order, written at the same time; if one fails, the others are given up."""
        is_read = any(not chunks.is_one_text(chunk) for chunk in work)
        group = Cancellation()
        with (
            cancellation.ending(group.cancel),
            ThreadPoolExecutor(min(self.slots.number, len(work)), thread_name_prefix="foldline-llm") as pool,
        ):
            waiting = [
                pool.submit(copy_context().run, self._chunk_texts, chunk, group, passes=is_read) for chunk in work
            ]
            for future in waiting:
                future.add_done_callback(lambda _: self._report(waiting, cancellation, is_read=is_read))
            done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
            group.cancel()
            pool.shutdown(cancel_futures=True)
        cancellation.check()
        for future in done:
            future.result()
        return [text for future in waiting for text in future.result()]

    def _report(self, work: Sequence[Future[list[_Text]]], cancellation: Cancellation, *, is_read: bool) -> None:
        """Report how far the work is: most of the calls are those that read what was said."""
        done = sum(future.done() for future in work) / len(work)
        share = READING_SHARE * done if is_read else READING_SHARE + (1 - READING_SHARE) * done
        cancellation.share = max(cancellation.share, share)

    def _chunk_texts(self, chunk: SummaryInput, cancellation: Cancellation, *, passes: bool) -> list[_Text]:
        """The texts of one of several chunks; if it `passes`, one that is an earlier summary alone is its own text."""
        cancellation.check()
        if passes and chunks.is_one_text(chunk):
            return [_Text(chunk.previous[0])]
        size = self._size(chunk)
        most = max(SMALLEST_PIECE, min(size.answer, size.prompt // CHUNK_SHARE))
        chunk = replace(chunk, max_tokens=most)
        key = self._key(chunk)
        text = self.kept.find(key)
        if text is not None:
            return [_Text(text)]
        texts = self._texts(chunk, cancellation)
        if len(texts) == 1 and not texts[0].is_replaced:
            self.kept.keep(key, texts[0].text)
        return texts

    def _key(self, chunk: SummaryInput) -> str:
        """What the text of a chunk depends on, as a digest."""
        said = serialize(chunk.said)
        facts = (self.client.model, chunk.headings, chunk.instructions, chunk.max_tokens, chunk.previous, said)
        return hashlib.sha256(dumps(facts)).hexdigest()

    def _texts(self, chunk: SummaryInput, cancellation: Cancellation, *, fits: bool = False) -> list[_Text]:
        """The text of a chunk, or those of its halves if the model's window is too small for it.

        `fits`: it was found to fit in a call.
        """
        while True:
            size = self._size(chunk)
            fits = fits or chunks.fits(chunk, size.prompt)
            if not fits and (halves := chunks.halves(chunk)):
                return [text for half in halves for text in self._chunk_texts(half, cancellation, passes=True)]
            try:
                return [self._judged(chunk, size, cancellation)]
            except (TooLong, AnswerTooLong):
                fits = False
            except _TooSmall:
                return [self._replaced(chunk)]

    def _judged(self, chunk: SummaryInput, size: CallSize, cancellation: Cancellation) -> _Text:
        """The story that the model writes of a chunk, or lines of the ledger if the gate refuses it every time."""
        asked = replace(chunk, max_tokens=size.answer)

        def ask(refused: str | None) -> WireAnswer:
            return self._called(prompt(asked, size.prompt, refused), size.answer, cancellation)

        text = self._accepted(asked, ask)
        return self._replaced(chunk) if text is None else _Text(text)

    def _accepted(
        self,
        asked: SummaryInput,
        ask: Callable[[str | None], WireAnswer],
        read: Callable[[str], str] = str,
        *,
        is_last: bool = True,
    ) -> str | None:
        """The story that the gate lets through; None if it refuses every one.

        `ask` gets the reason of the refusal before it. `read` changes an answer before it is judged. `is_last`: nobody
        is asked after these attempts.
        """
        refused: str | None = None
        for attempt in range(1, ATTEMPTS + 1):
            answer = ask(refused)
            story = Story(read(answer_text(answer.content)), answer.finish_reason, answer.has_tool_calls)
            judged = judge(story, asked)
            self._note(judged.findings, is_last=is_last and attempt == ATTEMPTS)
            if judged.text is not None:
                return judged.text
            refused = judged.reason
        return None

    def _called(
        self,
        messages: list[dict[str, str]],
        most: int,
        cancellation: Cancellation,
        beginning: CachedBeginning | None = None,
    ) -> WireAnswer:
        calls = self.retries.calls(cancellation)
        try:
            system, user = (message["content"] for message in messages)
            with self.slots.taken(cancellation):
                answer = calls(self.client.complete, system, user, most, cancellation, beginning, spend=self.spend)
        except (TooLong, AnswerTooLong) as refusal:
            sent = sum(count_text(message["content"]) for message in messages)
            sent += beginning.tokens if beginning else 0
            if not self.bounds.learn(refusal, sent, most):
                raise _TooSmall from refusal
            raise
        with self._lock:
            self.usage.update(answer.usage)
            self.reported = answer.model or self.reported
        return answer

    def _note(self, findings: Sequence[Finding], *, is_last: bool) -> None:
        with self._lock:
            for finding in findings[: max(0, MOST_FINDINGS - len(self.findings))]:
                is_again = finding.outcome is GateOutcome.REPLACED and not is_last
                self.findings.append(finding._replace(outcome=GateOutcome.ASKED_AGAIN) if is_again else finding)

    def _replaced(self, chunk: SummaryInput) -> _Text:
        return _Text(extractive.extract(chunk), is_replaced=True)


def create(
    name: str,
    row: NamedSummarizer,
    tracing: Tracing | None = None,
    *,
    broker_url: str = "",
    budgets: Budgets = NO_BUDGETS,
) -> LLM:
    """The summarizer that this row describes; its rates are counted at the broker if that can."""
    client = ModelClient(
        WIRES[row.wire],
        base_url=row.base_url,
        api_key=row.secret,
        model=row.model,
        timeout_seconds=row.timeout_seconds,
        tracing=tracing,
        prices=row.prices,
        rates=Rates(name, row.requests_per_minute, row.tokens_per_minute, broker_url),
    )
    known = known_model(row.model)
    window = row.window or (known.request or known.tokens if known else None)
    # A call that takes a whole minute's tokens would wait for a minute in which there is no other.
    prompt = min(row.input_tokens, row.tokens_per_minute // 2) if row.tokens_per_minute else row.input_tokens
    bounds = Bounds(prompt, window, row.output_tokens)
    concurrency = row.concurrency or CALLS_AT_LEAST
    rides = row.rides_cache is not None
    return LLM(client, bounds, name=name, concurrency=concurrency, rides_cache=rides, budgets=budgets)
