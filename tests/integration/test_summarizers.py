"""The summarizers against a scripted endpoint over real HTTP: what is published, retried, refused and given up."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from threading import Thread
from time import monotonic

import pytest
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.calls.retries import Retries
from foldline_worker.summarizers.contract import SummarizerUnavailable
from foldline_worker.summarizers.extractive import Extractive
from foldline_worker.summarizers.llm import LLM, create
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.registry import create_summarizer
from foldline_worker.summarizers.wires import WIRES
from pydantic import SecretStr

from foldline.engine.messages import Message, Text, ToolCall, ToolResult
from foldline.engine.summaries import extractive
from foldline.engine.summaries.composed import story_tokens
from foldline.engine.summaries.prompt import TURN_BEGINS, SummaryDraft, SummaryInput, divided, joined
from foldline.engine.tokens.counter import count_text
from foldline.settings import load_settings
from foldline.summarizer_file import NamedSummarizer
from tests.support.eventually import eventually
from tests.support.processes import scripted_llm as scripted
from tests.support.processes.scripted_llm import Limits, Reply, ScriptedLLM

KEY = "sk-very-secret"
SECRET = "the parser is called reader"
REQUEST = SummaryInput(
    previous=("## Rules\n- never touch the vendor folder",),
    messages=(
        Message("user", (Text("Rename the parser to reader. You must keep the old name as an alias."),)),
        Message("assistant", (ToolCall("c1", "bash", '{"command": "make test"}'),)),
        Message("tool", (ToolResult("c1", (Text("12 passed"),)),)),
        Message("assistant", (Text(f"Done, {SECRET} now."),)),
    ),
    max_tokens=200,
    instructions="stress the alias",
)
LONG = replace(
    REQUEST, messages=(Message("user", (Text("Then rename the reader of every parser in the vendor list. " * 1_200),)),)
)


def cancelled() -> Cancellation:
    cancellation = Cancellation()
    cancellation.cancel()
    return cancellation


@contextmanager
def asking(
    base_url: str, *, timeout_seconds: float = 10.0, bounds: Bounds | None = None, concurrency: int = 4
) -> Iterator[LLM]:
    retries = Retries(attempts=3, wait_initial_seconds=0.001, wait_max_seconds=0.05)
    key = SecretStr(KEY)
    with ModelClient(
        WIRES["openai-chat"], base_url=base_url, api_key=key, model="small", timeout_seconds=timeout_seconds
    ) as client:
        yield LLM(client, bounds or Bounds(8_000), retries=retries, concurrency=concurrency)


def summarize(llm: ScriptedLLM, request: SummaryInput = REQUEST) -> SummaryDraft:
    with asking(llm.base_url) as summarizer:
        return summarizer.summarize(request, Cancellation())


def test_a_streamed_answer_becomes_the_draft() -> None:
    with ScriptedLLM() as llm:
        draft = summarize(llm)
    assert "\n## Asked\n- Rename the parser" in draft.text
    assert (draft.degraded, draft.summarizer, draft.model) == (False, "openai", "scripted")
    assert draft.usage["input"] > 100
    assert draft.usage["output"] > 5


def test_the_request_carries_key_model_limit_and_all_material() -> None:
    with ScriptedLLM() as llm:
        summarize(llm)
    (request,) = llm.requests
    assert request.authorization == f"Bearer {KEY}"
    assert request.body["model"] == "small"
    assert request.body["max_tokens"] == story_tokens(REQUEST)
    for said in ("never touch the vendor folder", "stress the alias", "make test", "12 passed", SECRET):
        assert said in request.prompt


def test_no_key_sends_no_authorization() -> None:
    with (
        ScriptedLLM() as llm,
        ModelClient(WIRES["openai-chat"], base_url=llm.base_url, api_key=None, model="m", timeout_seconds=5) as client,
    ):
        LLM(client, Bounds(8_000)).summarize(REQUEST, Cancellation())
    assert llm.requests[0].authorization is None


def test_a_server_that_ignores_streaming_is_understood() -> None:
    with ScriptedLLM(Reply(ignores_stream=True)) as llm:
        draft = summarize(llm)
    assert not draft.degraded
    assert len(llm.requests) == 1


def test_a_server_that_refuses_streaming_is_called_without_it_from_then_on() -> None:
    with ScriptedLLM(scripted.NO_STREAMING) as llm, asking(llm.base_url) as summarizer:
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert ["stream" in request.body for request in llm.requests] == [True, False, False]


def test_streaming_is_still_requested_of_a_server_that_mentions_its_upstream() -> None:
    refusals = [Reply(text="rate-limited upstream", status=status) for status in (403, 400, 429)]
    with ScriptedLLM(*refusals) as llm, asking(llm.base_url) as summarizer:
        for status in (403, 400):
            with pytest.raises(SummarizerUnavailable, match=f"HTTP {status}"):
                summarizer.summarize(REQUEST, Cancellation())
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert all("stream" in request.body for request in llm.requests)


def test_a_refusal_that_is_not_about_the_request_leaves_streaming_on() -> None:
    with ScriptedLLM(Reply(text="no streaming on your plan", status=403)) as llm, asking(llm.base_url) as summarizer:
        with pytest.raises(SummarizerUnavailable):
            summarizer.summarize(REQUEST, Cancellation())
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    assert ["stream" in request.body for request in llm.requests] == [True, True]


def test_a_model_that_wants_the_limit_by_its_newer_name_gets_it_from_then_on() -> None:
    with ScriptedLLM(scripted.NO_MAX_TOKENS) as llm, asking(llm.base_url) as summarizer:
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
        assert not summarizer.summarize(REQUEST, Cancellation()).degraded
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in (r.body for r in llm.requests)]
    most = story_tokens(REQUEST)
    assert limits == [(most, None), (None, most), (None, most)]


def test_a_server_may_refuse_one_option_after_the_other() -> None:
    with ScriptedLLM(scripted.NO_MAX_TOKENS, scripted.NO_STREAMING) as llm:
        assert not summarize(llm).degraded
    assert len(llm.requests) == 3


@pytest.mark.parametrize(
    "failure",
    [
        scripted.rate_limited(),
        scripted.rate_limited(None),
        scripted.SERVER_ERROR,
        scripted.DROPPED,
        scripted.DROPPED_MIDWAY,
        scripted.NOT_JSON,
        Reply(raw=b'{"error": {"message": "overloaded"}}'),
    ],
    ids=["429", "429 without a time", "500", "drop", "broken off", "not JSON", "error in the answer"],
)
def test_a_passing_failure_is_tried_again(failure: Reply) -> None:
    with ScriptedLLM(failure, failure) as llm:
        draft = summarize(llm)
    assert not draft.degraded
    assert len(llm.requests) == 3


@pytest.mark.parametrize("failure", [scripted.SERVER_ERROR, scripted.DROPPED], ids=["500", "drop"])
def test_a_failure_that_stays_ends_as_unavailable_after_bounded_attempts(failure: Reply) -> None:
    with ScriptedLLM(default=failure) as llm, pytest.raises(SummarizerUnavailable):
        summarize(llm)
    assert len(llm.requests) == 3


def test_a_pause_longer_than_the_patience_is_handed_to_the_caller() -> None:
    with ScriptedLLM(scripted.rate_limited("90")) as llm, pytest.raises(SummarizerUnavailable) as caught:
        summarize(llm)
    assert caught.value.retry_after_seconds == 90
    assert len(llm.requests) == 1


def test_a_short_pause_is_kept() -> None:
    with ScriptedLLM(scripted.rate_limited("0.05")) as llm:
        started = monotonic()
        summarize(llm)
        assert monotonic() - started >= 0.05


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refused_call_is_not_repeated(status: int) -> None:
    refusal = Reply(text="no", status=status)
    with ScriptedLLM(refusal) as llm, pytest.raises(SummarizerUnavailable, match=f"HTTP {status}"):
        summarize(llm)
    assert len(llm.requests) == 1


def test_a_refused_call_says_what_the_provider_said() -> None:
    refusal = Reply(text=f"Incorrect API key provided: {KEY}. You can find yours in your account.", status=401)
    with ScriptedLLM(refusal) as llm, pytest.raises(SummarizerUnavailable) as caught:
        summarize(llm)
    assert caught.value.reason == "HTTP 401: Incorrect API key provided: …. You can find yours in your account."


def test_a_refusal_that_quotes_the_prompt_is_reported_without_it() -> None:
    refusal = Reply(text=f"messages[1] must not say {SECRET} nor 'alias'", status=400)
    with ScriptedLLM(refusal) as llm, pytest.raises(SummarizerUnavailable) as caught:
        summarize(llm)
    assert caught.value.reason.startswith("HTTP 400: messages[1] must not say…")
    assert "parser" not in caught.value.reason
    assert "alias" not in caught.value.reason


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with asking(f"http://127.0.0.1:{port}/v1") as summarizer, pytest.raises(SummarizerUnavailable):
            summarizer.summarize(REQUEST, Cancellation())


REFUSED = [
    scripted.TRUNCATED,
    scripted.EMPTY,
    scripted.BLANK,
    scripted.TOOL_CALL,
    scripted.TOO_LONG,
    Reply(finish_reason=None),
    Reply(finish_reason="content_filter"),
]
REFUSED_IDS = ["truncated", "empty", "blank", "tool call", "too long", "no reason", "filtered"]


@pytest.mark.parametrize("refused", REFUSED, ids=REFUSED_IDS)
def test_a_refused_answer_is_requested_once_more(refused: Reply) -> None:
    with ScriptedLLM(refused) as llm:
        draft = summarize(llm)
    assert not draft.degraded
    assert len(llm.requests) == 2
    assert "could not be used" in llm.requests[1].prompt


@pytest.mark.parametrize("refused", REFUSED, ids=REFUSED_IDS)
def test_an_answer_refused_twice_is_replaced_by_the_extractive_one(refused: Reply) -> None:
    with ScriptedLLM(default=refused) as llm:
        draft = summarize(llm)
    assert (draft.degraded, draft.summarizer) == (True, "extractive")
    assert draft.text == extractive.summarize(REQUEST)
    assert len(llm.requests) == 2


def test_a_plain_answer_is_checked_like_a_streamed_one() -> None:
    refused = replace(scripted.TOOL_CALL, ignores_stream=True)
    with ScriptedLLM(default=refused) as llm:
        assert summarize(llm).degraded


def test_a_prompt_that_is_too_long_is_written_shorter() -> None:
    with ScriptedLLM(scripted.OVERFLOW) as llm:
        draft = summarize(llm, LONG)
    assert not draft.degraded
    first, *others = (count_text(request.prompt) for request in llm.requests)
    assert first <= 8_000
    assert max(others) <= first * 0.6


def test_an_endpoint_that_always_says_too_long_gives_the_extractive_summary() -> None:
    with ScriptedLLM(default=scripted.OVERFLOW) as llm:
        draft = summarize(llm, LONG)
    assert draft.degraded
    assert len(llm.requests) < 10
    sizes = [count_text(request.prompt) for request in llm.requests]
    assert sizes == sorted(sizes, reverse=True)


LONGER = replace(
    REQUEST,
    messages=tuple(
        message
        for number in range(60)
        for message in (
            Message(
                "user", (Text(f"Part {number}: move module_{number} to the new layout and keep its tests green."),)
            ),
            Message("assistant", (Text(f"Moved module_{number}. " + f"Its callers follow, see step {number}. " * 60),)),
        )
    ),
    max_tokens=16_616,
)


@pytest.mark.parametrize(
    ("limits", "known"),
    [
        (Limits(answer=16_384), Bounds(100_000)),
        (Limits(answer=4_096), Bounds(100_000)),
        (Limits(8_192), Bounds(100_000)),
        (Limits(8_192, 1_000), Bounds(100_000)),
        (Limits(32_768), Bounds(100_000, 128_000)),
        (Limits(5_000), Bounds(100_000, 8_192)),
    ],
    ids=["answer cap", "small cap", "vLLM", "vLLM with a cap", "smaller than said", "small and smaller than said"],
)
def test_the_bounds_of_a_model_are_learned(limits: Limits, known: Bounds) -> None:
    with ScriptedLLM(limits=limits) as llm, asking(llm.base_url, bounds=known) as summarizer:
        assert not summarizer.summarize(LONGER, Cancellation()).degraded
        refused = llm.refused
        assert refused <= 4 * 2, "at most one refusal or two for each call that was on its way"
        assert not summarizer.summarize(LONGER, Cancellation()).degraded
        assert llm.refused == refused, "what was learned holds for later summaries"


def test_chunks_are_summarized_at_the_same_time_and_merged() -> None:
    slow = replace(scripted.SUMMARY, delay_seconds=0.4)
    with (
        ScriptedLLM(default=slow, limits=Limits(8_192)) as llm,
        asking(llm.base_url, bounds=Bounds(100_000, 8_192), concurrency=3) as summarizer,
    ):
        draft = summarizer.summarize(LONGER, Cancellation())
    assert llm.refused == 0
    assert llm.most_at_once == 3
    leaves = [request.prompt for request in llm.requests if "<conversation>" in request.body["messages"][1]["content"]]
    for number in range(60):
        assert sum(f"Part {number}:" in leaf for leaf in leaves) == 1
    last = llm.requests[-1].prompt
    assert "vendor folder" in last, "the earlier summary is merged as it is"
    assert not draft.degraded
    assert draft.usage["input"] == sum(count_text(request.prompt) for request in llm.requests)


def test_a_chunk_that_fails_gives_up_the_others() -> None:
    slow = replace(scripted.SUMMARY, delay_seconds=30)
    with (
        ScriptedLLM(Reply(text="no", status=403), default=slow) as llm,
        asking(llm.base_url, bounds=Bounds(100_000, 8_192), concurrency=3, timeout_seconds=60) as summarizer,
    ):
        started = monotonic()
        with pytest.raises(SummarizerUnavailable, match="HTTP 403"):
            summarizer.summarize(LONGER, Cancellation())
        assert monotonic() - started < 20
        assert len(llm.requests) <= 4


def test_cancelling_ends_all_chunks() -> None:
    slow = replace(scripted.SUMMARY, delay_seconds=30)
    with (
        ScriptedLLM(default=slow) as llm,
        asking(llm.base_url, bounds=Bounds(100_000, 8_192), timeout_seconds=60) as summarizer,
    ):
        call = Call(summarizer, request=LONGER)
        thread = Thread(target=call.run)
        thread.start()
        eventually(lambda: llm.at_once == 4)
        call.cancellation.cancel()
        thread.join(timeout=5)
        assert isinstance(call.error, Cancelled)
        eventually(lambda: llm.at_once == 0)


def test_reasoning_in_front_of_an_answer_is_left_out() -> None:
    story = "## Asked\n- rename the parser to reader, with the old name as an alias"
    with ScriptedLLM(Reply(text=f"<think>well, well</think>\n\n{story}")) as llm:
        text = summarize(llm).text
    assert story in text
    assert "well, well" not in text


def test_what_the_gate_did_is_in_the_details() -> None:
    story = "## Asked\n- Rename the parser to reader, with the old name as an alias.\n- See docs/quux_guide.md."
    with ScriptedLLM(scripted.EMPTY, Reply(text=story)) as llm:
        draft = summarize(llm)
    assert story.rpartition("\n")[0] in draft.text
    assert "quux" not in draft.text
    assert [(found["check"], found["outcome"]) for found in draft.details["gate"]] == [
        ("empty", "asked again"),
        ("invention", "patched"),
    ]


def test_usage_is_summed_over_calls() -> None:
    with ScriptedLLM(Reply(text="", finish_reason="stop"), scripted.SUMMARY) as llm:
        twice = summarize(llm).usage["input"]
    with ScriptedLLM() as llm:
        once = summarize(llm).usage["input"]
    assert twice > 2 * once


SPLIT = replace(
    REQUEST,
    max_tokens=600,
    turn_prefix=(
        Message("user", (Text("Release version 2."),)),
        Message("assistant", (Text("I will tag it first."), ToolCall("c2", "bash", '{"command": "git tag v2"}'))),
        Message("tool", (ToolResult("c2", (Text("tagged"),)),)),
    ),
)


def test_the_beginning_of_a_turn_is_requested_after_what_was_before_it() -> None:
    with ScriptedLLM() as llm:
        draft = summarize(llm, SPLIT)
    before, turn = llm.requests
    assert "Rename the parser" in before.prompt
    assert "Release version 2." not in before.prompt
    assert "Release version 2." in turn.prompt
    assert "Rename the parser" not in turn.prompt
    assert "\n## Asked\n- Rename the parser" in draft.text
    assert f"\n\n{TURN_BEGINS}\n## Original Request\n- Release version 2." in draft.text
    assert not draft.degraded


def test_both_parts_of_a_summary_share_its_tokens_and_their_usage_is_summed() -> None:
    with ScriptedLLM() as llm:
        usage = summarize(llm, SPLIT).usage
        alone = [summarize(llm, piece).usage for piece in (divided(SPLIT)[0], replace(SPLIT, previous=(), messages=()))]
    limits = [request.body["max_tokens"] for request in llm.requests[:2]]
    assert limits == [story_tokens(piece) for piece in divided(SPLIT)]
    assert sum(limits) < SPLIT.max_tokens
    assert usage["output"] == sum(part["output"] for part in alone)


def test_an_answer_refused_for_one_part_is_requested_once_more_for_that_part() -> None:
    with ScriptedLLM(scripted.SUMMARY, scripted.TRUNCATED) as llm:
        draft = summarize(llm, SPLIT)
    assert not draft.degraded
    assert ["could not be used" in request.prompt for request in llm.requests] == [False, False, True]


@pytest.mark.parametrize("place", [0, 1], ids=["what was before", "the turn"])
def test_a_part_that_is_refused_twice_is_replaced_alone(place: int) -> None:
    replies = [scripted.SUMMARY] * place + [scripted.EMPTY] * 2
    with ScriptedLLM(*replies) as llm:
        draft = summarize(llm, SPLIT)
    assert (draft.degraded, draft.summarizer) == (True, "extractive")
    pieces = divided(SPLIT)
    written = draft.text.split(joined(pieces, ("", "")))
    extracted = [extractive.extract(piece) for piece in pieces]
    assert [text == other for text, other in zip(written, extracted, strict=True)] == [place == 0, place == 1]
    assert len(llm.requests) == 3
    assert count_text(draft.text) <= SPLIT.max_tokens


def test_without_room_for_two_parts_all_is_requested_at_once() -> None:
    with ScriptedLLM() as llm:
        summarize(llm, replace(SPLIT, max_tokens=100))
    (request,) = llm.requests
    assert "Rename the parser" in request.prompt
    assert "Release version 2." in request.prompt


def test_a_failure_of_the_second_part_leaves_no_summary_for_now() -> None:
    with (
        ScriptedLLM(scripted.SUMMARY, default=Reply(text="no", status=403)) as llm,
        pytest.raises(SummarizerUnavailable),
    ):
        summarize(llm, SPLIT)
    assert len(llm.requests) == 2


@dataclass(slots=True)
class Call:
    """A call of the summarizer in a thread, that can be cancelled."""

    summarizer: LLM
    request: SummaryInput = REQUEST
    cancellation: Cancellation = field(default_factory=Cancellation)
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.summarizer.summarize(self.request, self.cancellation)
        except Cancelled as error:
            self.error = error


@pytest.mark.parametrize("reply", [scripted.slow(30), Reply(piece_delay_seconds=30)], ids=["silent", "streaming"])
def test_cancelling_ends_the_call_and_its_connection(reply: Reply) -> None:
    with ScriptedLLM(default=reply) as llm, asking(llm.base_url, timeout_seconds=60) as summarizer:
        call = Call(summarizer)
        thread = Thread(target=call.run)
        thread.start()
        eventually(lambda: llm.requests)
        call.cancellation.cancel()
        thread.join(timeout=5)
        assert isinstance(call.error, Cancelled)
        eventually(lambda: llm.disconnects == 1)


def test_cancelling_ends_a_call_that_waits_for_its_encryption() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        asking(f"https://127.0.0.1:{mute.getsockname()[1]}/v1", timeout_seconds=60) as summarizer,
    ):
        call = Call(summarizer)
        thread = Thread(target=call.run)
        thread.start()
        peer, _ = mute.accept()
        with peer:
            assert peer.recv(1), "the first word of the handshake"
            call.cancellation.cancel()
            thread.join(timeout=5)
            assert isinstance(call.error, Cancelled)


@pytest.mark.parametrize("retry_after", [None, "9"], ids=["our pause", "the server's pause"])
def test_cancelling_ends_the_pause_before_another_call(retry_after: str | None) -> None:
    patient = Retries(attempts=3, wait_initial_seconds=9, wait_max_seconds=10)
    with (
        ScriptedLLM(default=scripted.rate_limited(retry_after)) as llm,
        ModelClient(WIRES["openai-chat"], base_url=llm.base_url, api_key=None, model="m", timeout_seconds=5) as client,
    ):
        call = Call(LLM(client, Bounds(8_000), retries=patient))
        thread = Thread(target=call.run)
        thread.start()
        eventually(lambda: llm.requests)
        call.cancellation.cancel()
        started = monotonic()
        thread.join(timeout=9)
        assert monotonic() - started < patient.wait_initial_seconds / 2
        assert isinstance(call.error, Cancelled)
    assert len(llm.requests) == 1


def test_a_cancelled_request_makes_no_call() -> None:
    with ScriptedLLM() as llm, asking(llm.base_url) as summarizer, pytest.raises(Cancelled):
        summarizer.summarize(REQUEST, cancelled())
    assert llm.requests == []


def test_the_time_out_bounds_a_call_that_trickles() -> None:
    trickle = Reply(text="word " * 40, piece_delay_seconds=0.15)
    with (
        ScriptedLLM(default=trickle) as llm,
        asking(llm.base_url, timeout_seconds=0.3) as summarizer,
        pytest.raises(SummarizerUnavailable, match="too long"),
    ):
        summarizer.summarize(REQUEST, Cancellation())


def test_neither_text_nor_key_is_logged_or_in_errors(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        ScriptedLLM(default=Reply(text=f"boom {SECRET}", status=500)) as llm,
        pytest.raises(SummarizerUnavailable) as caught,
    ):
        summarize(llm)
    logged = caplog.text + repr(caught.value) + repr(caught.value.__cause__)
    assert SECRET not in logged
    assert KEY not in logged


def test_settings_pick_the_extractive_summarizer() -> None:
    summarizer = create_summarizer(load_settings())
    draft = summarizer.summarize(REQUEST, Cancellation())
    text, provenance = extractive.extracted(REQUEST)
    assert draft == SummaryDraft(text, degraded=False, summarizer="extractive", provenance=provenance)


def test_the_extractive_summarizer_too_heeds_a_cancellation() -> None:
    with pytest.raises(Cancelled):
        Extractive().summarize(REQUEST, cancelled())


def test_settings_pick_an_endpoint() -> None:
    with ScriptedLLM() as llm:
        settings = load_settings(
            summarizer="openai",
            summarizer_base_url=f"{llm.base_url}/",
            summarizer_api_key=KEY,
            summarizer_model="small",
            summarizer_input_tokens=8_000,
        )
        summarizer = create_summarizer(settings)
        with closing(summarizer):
            assert not summarizer.summarize(REQUEST, Cancellation()).degraded


class Kept(dict[str, str]):
    """Texts of chunks, as a job keeps them."""

    find = dict.get

    def keep(self, key: str, text: str) -> None:
        self[key] = text


class Shares(Cancellation):
    """Remembers how far the work was, each time it said so."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        super().__init__()

    @property
    def share(self) -> float:
        return self.seen[-1]

    @share.setter
    def share(self, value: float) -> None:
        self.seen.append(value)


def test_a_summary_of_many_chunks_reports_how_many_are_done() -> None:
    shares = Shares()
    with ScriptedLLM() as llm, asking(llm.base_url, bounds=Bounds(100_000, 8_192), concurrency=1) as summarizer:
        summarizer.summarize(LONGER, shares)
        assert len({*shares.seen}) >= len(llm.requests) / 2
    assert shares.seen == sorted(shares.seen)
    assert 0.8 <= shares.share <= 1


def test_another_try_repeats_only_the_chunks_that_failed() -> None:
    kept = Kept()
    small = Bounds(100_000, 8_192)
    replies = [scripted.SUMMARY] * 5
    with ScriptedLLM(*replies, default=Reply(text="no", status=403)) as llm:
        with asking(llm.base_url, bounds=small, concurrency=1) as summarizer, pytest.raises(SummarizerUnavailable):
            summarizer.summarize(LONGER, Cancellation(), kept)
        assert len(kept) == 5
    with ScriptedLLM() as llm, asking(llm.base_url, bounds=small, concurrency=1) as summarizer:
        again = summarizer.summarize(LONGER, Cancellation(), kept)
        with_kept = len(llm.requests)
        assert summarizer.summarize(LONGER, Cancellation()).text == again.text
        assert len(llm.requests) - with_kept == with_kept + 5


@pytest.mark.parametrize(("model", "has_price"), [("gpt-4o-mini", True), ("nobody/knows-it", False)])
def test_what_a_summary_cost_is_in_its_details(model: str, *, has_price: bool) -> None:
    with ScriptedLLM() as llm:
        row = NamedSummarizer(model=model, base_url=llm.base_url, input_tokens=8_000)
        with closing(create("cheap", row)) as summarizer:
            draft = summarizer.summarize(REQUEST, Cancellation())
    cost = (draft.usage["input"] * 0.15 + draft.usage["output"] * 0.6) / 1e6
    assert draft.details.get("cost_usd") == (pytest.approx(cost, abs=1e-6) if has_price else None)


def test_calls_of_all_summaries_share_the_slots_and_cancelling_ends_the_wait_for_one() -> None:
    slow = replace(scripted.SUMMARY, delay_seconds=30)
    with (
        ScriptedLLM(default=slow) as llm,
        asking(llm.base_url, bounds=Bounds(100_000, 8_192), timeout_seconds=60, concurrency=1) as summarizer,
    ):
        calls = [Call(summarizer), Call(summarizer, request=LONGER), Call(summarizer, request=LONGER)]
        threads = [Thread(target=call.run) for call in calls]
        for thread in threads:
            thread.start()
        eventually(lambda: llm.at_once == 1)
        for call, thread in zip(reversed(calls), reversed(threads), strict=True):
            call.cancellation.cancel()
            thread.join(timeout=5)
            assert isinstance(call.error, Cancelled)
        assert llm.most_at_once == 1
