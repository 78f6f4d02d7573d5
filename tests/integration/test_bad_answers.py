"""Every bad answer of every provider ends as the table says: never in a stored bad summary, nor without the ledger."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.calls.retries import Retries
from foldline_worker.summarizers.contract import SummarizerUnavailable
from foldline_worker.summarizers.extractive import Extractive
from foldline_worker.summarizers.llm import LLM
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.registry import SummarizerChain
from foldline_worker.summarizers.wires import WIRES
from pydantic import SecretStr

from foldline.engine.messages import Message, Text, user
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput, prompt
from tests.support.processes.scripted_models import Behaviour, ScriptedModel
from tools.bad_answers import BAD_ANSWERS, Ending

REQUEST = SummaryInput(
    ("## Decided\n- The reader stays in src/reader.py.",),
    (
        user("Rename the parser to reader in src/parse.py. Never touch the vendor folder."),
        Message("assistant", (Text("I renamed the parser, and 12 tests pass. The alias comes next."),)),
        user("Good. Then write the notes for release 2.4."),
    ),
    600,
)
# Long enough to be written shorter.
LONGER = replace(
    REQUEST,
    messages=(
        *REQUEST.messages,
        *(
            Message("assistant", (Text(f"Step {number}: moved its callers, one by one, and ran the tests. " * 20),))
            for number in range(20)
        ),
    ),
)
ATTEMPTS = 3
SHORT_SECONDS = 0.4
STORY = "## Decided\n- The parser is called reader now, and 12 tests pass.\n## Open\n- The notes for release 2.4."
INVENTED = "see docs/quux_guide.md"
BEHAVIOURS = MappingProxyType(
    {
        "401": Behaviour(status=401, error="invalid key"),
        "402": Behaviour(status=402, error="no credit"),
        "403": Behaviour(status=403, error="not allowed"),
        "404": Behaviour(status=404, error="no such model"),
        "408": Behaviour(status=408, error="timed out"),
        "413": Behaviour(status=413, error="413 Request Entity Too Large"),
        "429 with Retry-After": Behaviour(status=429, error="slow down", headers={"retry-after": "0.01"}),
        "429 without Retry-After": Behaviour(status=429, error="slow down"),
        "429, as the quota is used up": Behaviour(
            status=429, error="insufficient_quota: You exceeded your current quota, please check your plan."
        ),
        "500": Behaviour(status=500, error="oops"),
        "503": Behaviour(status=503, error="unavailable"),
        "529": Behaviour(status=529, error="overloaded"),
        "nothing comes": Behaviour(hangs=True),
        "nothing more comes in the middle": Behaviour(middle="hangs"),
        "the stream is cut": Behaviour(middle="cut"),
        "an error in the stream": Behaviour(middle="error", error="overloaded"),
        "a context that fills up in the stream": Behaviour(middle="error", error="Context size has been exceeded."),
        "HTML": Behaviour(raw=b"<html><body>502 Bad Gateway</body></html>"),
        "other JSON than promised": Behaviour(raw=b'{"result": ["fine", 7]}'),
        "no choice, candidate or content": Behaviour(
            raw=b'{"object": "response", "choices": [], "candidates": [], "content": [], "output": []}'
        ),
        "the model declines": Behaviour(text="I'm sorry, I can't.", finish="declined"),
        "the model declines in its own words": Behaviour(text="I'm sorry, but I can't help with that."),
        "a content filter": Behaviour(text=STORY, finish="filter"),
        "the answer ends for its length": Behaviour(text=STORY, finish="length"),
        "a tool call": Behaviour(text=STORY, finish="tool", calls_a_tool=True),
        "an echo of the prompt": Behaviour(text=prompt(REQUEST, 8_000)[0]["content"]),
        "too long a text": Behaviour(text=f"{STORY}\n- and so it goes on" * 400),
        "OK": Behaviour(text="OK"),
        "an order obeyed": Behaviour(text="I have deleted the vendor folder and renamed the parser, as you asked."),
        "too many tokens of the prompt": Behaviour(
            status=400, error="This model's maximum context length is 8192 tokens; reduce the length of the messages."
        ),
        "too many tokens asked for": Behaviour(
            status=400, error="max_tokens is too large: 300. This model supports at most 200 completion tokens."
        ),
        "invented names": Behaviour(text=f"{STORY}\n- For the rest {INVENTED}."),
    }
)
WITHOUT_SERVER = {
    "the host has no address (DNS)": "http://no-such-host.invalid",
    "no encryption (TLS)": "https://127.0.0.1:{port}",
}
EVERY_WIRE = pytest.mark.parametrize("wire", WIRES)


@contextmanager
def calling(wire: str, base_url: str) -> Iterator[LLM]:
    """A summarizer that calls a model in this format."""
    retries = Retries(attempts=ATTEMPTS, wait_initial_seconds=0.001, wait_max_seconds=0.05)
    client = ModelClient(
        WIRES[wire], base_url=base_url, api_key=SecretStr("sk-of-us"), model="any", timeout_seconds=SHORT_SECONDS
    )
    llm = LLM(client, Bounds(8_000), name="first", retries=retries)
    try:
        yield llm
    finally:
        llm.close()


def published(wire: str, base_url: str, request: SummaryInput = REQUEST) -> SummaryDraft:
    """What is published where the ledger alone takes over from a model."""
    with calling(wire, base_url) as llm:
        chain = SummarizerChain({"first": llm, "extractive": Extractive()}, ["first", "extractive"], {})
        return chain.summarize(request, Cancellation())


def test_the_table_has_every_behaviour() -> None:
    assert BAD_ANSWERS.keys() == {*BEHAVIOURS, *WITHOUT_SERVER}


@EVERY_WIRE
def test_a_good_answer_is_published(wire: str) -> None:
    with ScriptedModel(wire, default=Behaviour(text=STORY)) as model:
        draft = published(wire, model.base_url)
    assert not model.faults
    (asked,) = model.asked
    assert asked.key == "sk-of-us"
    assert "Never touch the vendor folder" in asked.user
    assert "quoted material" in asked.system
    assert (draft.summarizer, draft.degraded, draft.model) == ("first", False, "scripted")
    # Gemini leaves out what was not in its cache.
    assert draft.usage == {"input": 11, "output": 7} | ({"cache_read": 0} if wire == "gemini" else {})
    for line in ("- Never touch the vendor folder.", "- The parser is called reader now, and 12 tests pass."):
        assert line in draft.text


@EVERY_WIRE
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_bad_answer_ends_as_the_table_says(name: str, wire: str) -> None:
    behaviour, ending = BEHAVIOURS[name], BAD_ANSWERS[name]
    is_shorter = ending is Ending.SHORTER
    with ScriptedModel(wire, *[behaviour] * is_shorter, default=None if is_shorter else behaviour) as model:
        draft = published(wire, model.base_url, LONGER if is_shorter else REQUEST)
    assert not model.faults
    calls = {Ending.TRIED_AGAIN: ATTEMPTS, Ending.PASSED_ON: 1, Ending.JUDGED: 2, Ending.PATCHED: 1}
    assert len(model.asked) == calls.get(ending, len(model.asked))
    is_published = ending in {Ending.SHORTER, Ending.PATCHED}
    assert draft.degraded is not is_published
    assert draft.summarizer == ("first" if is_published else "extractive")
    assert "- Never touch the vendor folder." in draft.text
    assert INVENTED not in draft.text
    if not is_published:
        assert draft.text == extractive.summarize(REQUEST)
    if ending is Ending.JUDGED:
        assert "could not be used" in model.asked[1].user
        assert [finding["outcome"] for finding in draft.details["gate"]] == ["asked again", "replaced"]


@EVERY_WIRE
@pytest.mark.parametrize("name", [name for name, ending in BAD_ANSWERS.items() if ending is Ending.TRIED_AGAIN])
def test_what_passes_is_tried_again_and_else_fails_visibly(name: str, wire: str) -> None:
    if name in WITHOUT_SERVER:
        with socket.create_server(("127.0.0.1", 0)) as mute:
            address = WITHOUT_SERVER[name].format(port=mute.getsockname()[1])
            with calling(wire, address) as llm, pytest.raises(SummarizerUnavailable) as caught:
                llm.summarize(REQUEST, Cancellation())
        assert "the call" in caught.value.reason or "connection" in caught.value.reason
        return
    behaviour = BEHAVIOURS[name]
    with ScriptedModel(wire, behaviour) as model:
        assert published(wire, model.base_url).summarizer == "first"
        assert len(model.asked) == 2
    with (
        ScriptedModel(wire, default=behaviour) as model,
        calling(wire, model.base_url) as llm,
        pytest.raises(SummarizerUnavailable) as caught,
    ):
        llm.summarize(REQUEST, Cancellation())
    assert caught.value.reason
    assert "sk-of-us" not in caught.value.reason


@EVERY_WIRE
def test_a_pause_that_is_demanded_is_passed_to_the_job(wire: str) -> None:
    busy = replace(BEHAVIOURS["429 with Retry-After"], headers={"retry-after": "90"})
    with ScriptedModel(wire, default=busy) as model, calling(wire, model.base_url) as llm:
        with pytest.raises(SummarizerUnavailable) as caught:
            llm.summarize(REQUEST, Cancellation())
        assert len(model.asked) == 1
    assert caught.value.retry_after_seconds == 90
