"""Summaries by the session's own model, which is sent the view that it answered last where that costs less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers import llm
from foldline_worker.summarizers.contract import Summarizer
from foldline_worker.summarizers.rides import MOST_MISSES

from foldline.engine.models.prices import Prices
from foldline.engine.models.windows import known_model
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, publish
from foldline.log.storage.store import Limits, RidingModel
from foldline.summarizer_file import FORMATS, NamedSummarizer
from tests.support.processes.api import Api, Json, assistant, calling, open_api, result, user
from tests.support.processes.caching_model import CachingModel
from tests.support.processes.databases import only_sqlite

database_kind = only_sqlite

MODELS = {
    "openai-chat": "openai/gpt-5.1",
    "openai-responses": "openai/gpt-5.1",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "google/gemini-2.5-pro",
}
# The tools are sent as they are, and this server minds no format.
TOOLS = [{"name": "look", "description": "Look at a place.", "input_schema": {"type": "object", "properties": {}}}]
STORY = "## Decided\n- The parser is called reader now, and 12 tests pass.\n## Open\n- The notes for release 2.4."
REFUSED = "I'm sorry, but I can't help with that."
WORDS = "so it goes on and on with the parser and its callers " * 12


@contextmanager
def service(database: str, wire: str) -> Iterator[Api]:
    riding = {"own": RidingModel(MODELS[wire], FORMATS[wire])}
    limits = Limits(summarizers=frozenset({"own", "extractive"}), usual=("own",), riding=riding)
    with open_api(database, limits) as api:
        yield api


def name(wire: str) -> str:
    return MODELS[wire].rpartition("/")[2]


def prices(wire: str) -> Prices:
    known = known_model(MODELS[wire])
    assert known is not None
    assert known.prices is not None
    return known.prices


def worked(api: Api, wire: str, model: CachingModel | None, turns: int = 6) -> tuple[str, list[Json]]:
    """A session in which an agent has worked, and the view that its model answered last."""
    session = api.session(
        model=MODELS[wire], context_window=20_000, system="You look.", tools=TOOLS, auto_compact=False
    )
    api.say(session, user("Rename the parser to reader in src/parse.py."), calling("c"), result("c", WORDS))
    api.say(session, assistant("The parser is called reader now, and 12 tests pass."))
    api.say(session, user("Good. Then write the notes for release 2.4."), assistant(WORDS))
    for number in range(turns):
        api.say(session, user(f"{number} {WORDS}"), assistant(f"{number} {WORDS}"))
    api.say(session, user("Go on."))
    view: list[Json] = api.get(f"{session}/context?format={FORMATS[wire]}")["messages"]
    if model:
        model.read(view)
    api.say(session, assistant("I go on."), user("Go on."))
    return session, view


def summarized(api: Api, session: str, wire: str, model: CachingModel, **row: Any) -> Json:
    """The compaction with the summary that this model writes."""
    given = {"model": name(wire), "wire": wire, "base_url": model.base_url, "rides_cache": MODELS[wire], **row}
    with closing(llm.create("own", NamedSummarizer.model_validate(given))) as summarizer:
        return compaction_of(api, session, summarizer)


def compaction_of(api: Api, session: str, summarizer: Summarizer) -> Json:
    api.post(f"{session}/compact", {"target_tokens": 1_500}, 202)
    claim = claims.claim(api.store, INTERACTIVE)
    assert claim is not None
    draft = summarizer.summarize(claim.request, Cancellation())
    assert publish.publish(api.store, claim, draft) == "succeeded"
    *_, newest = (made for made in api.get(f"{session}/compactions")["items"] if made["reason"] == "summary")
    compaction: Json = api.get(f"{session}/compactions/{newest['id']}")
    return compaction


def sent(body: Json, wire: str) -> list[Json]:
    """The messages of a request, as they were before a mark and a question were put to them."""
    messages: list[Json] = body[{"openai-responses": "input", "gemini": "contents"}.get(wire, "messages")]
    if wire != "anthropic":
        return messages[:-1]
    *before, last = messages
    blocks = last["content"]
    if isinstance(blocks, list) and len(blocks) > 1:
        return [*before, {**last, "content": blocks[:-1]}]
    return before


def unmarked(messages: list[Json]) -> list[Json]:
    """The messages without marks; a text that had to be a block for one is a text again."""
    for message in messages:
        if isinstance(message.get("content"), list):
            blocks = [
                {key: value for key, value in block.items() if key != "cache_control"} for block in message["content"]
            ]
            is_text = len(blocks) == 1 and blocks[0]["type"] == "text"
            message["content"] = blocks[0]["text"] if is_text else blocks
    return messages


@pytest.mark.parametrize("wire", MODELS)
def test_a_request_begins_with_the_view_that_the_model_has_in_its_cache(database: str, wire: str) -> None:
    with CachingModel(wire, STORY) as model, service(database, wire) as api:
        session, view = worked(api, wire, model)

        made = summarized(api, session, wire, model)

        (body,) = model.bodies
        beginning = unmarked(sent(body, wire))
        assert len(beginning) > 4
        assert beginning == view[: len(beginning)]
        assert body["tools"] == TOOLS
        assert "12 tests pass" in made["summary"]
        (used,) = model.used
        assert used.cached > 2 * used.others / 3
        cost = prices(wire).cost(used.cached + used.others, used.output, cache_read=used.cached)
        assert cost is not None
        assert made["details"]["input"] == "view"
        assert made["details"]["cost_usd"] == pytest.approx(cost, abs=1e-6)
        whole = prices(wire).cost(used.cached + used.others, used.output)
        assert whole is not None
        assert made["details"]["cost_usd"] < whole


def test_the_mark_of_the_cache_is_on_the_last_block_before_the_question(database: str) -> None:
    with CachingModel("anthropic", STORY) as model, service(database, "anthropic") as api:
        session, _ = worked(api, "anthropic", model)
        summarized(api, session, "anthropic", model)
        (body,) = model.bodies
        last = sent(body, "anthropic")[-1]
        assert last["content"][-1]["cache_control"] == {"type": "ephemeral"}
        assert str(body).count("cache_control") == 1
        roles = [message["role"] for message in body["messages"]]
        assert all(one != other for one, other in pairwise(roles))


def transcript_of(model: CachingModel) -> str:
    """The text of the last request, which is a transcript."""
    body = model.bodies[-1]
    assert "tools" not in body
    system, asked = body["messages"]
    assert system["role"] == "system"
    text: str = asked["content"]
    assert "<conversation>" in text
    return text


def test_a_refused_story_of_a_view_is_asked_for_with_a_transcript(database: str) -> None:
    with CachingModel("openai-chat", REFUSED, REFUSED, STORY) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        made = summarized(api, session, "openai-chat", model)
        assert ["tools" in body for body in model.bodies] == [True, True, False]
        assert "A former attempt could not be used" in model.bodies[1]["messages"][-1]["content"]
        transcript_of(model)
        assert made["details"]["input"] == "transcript"
        assert "12 tests pass" in made["summary"]
        outcomes = [found["outcome"] for found in made["details"]["gate"]]
        assert outcomes == ["asked again", "asked again"]


def test_a_server_that_takes_no_view_gets_a_transcript(database: str) -> None:
    with CachingModel("openai-chat", STORY, most=2) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        made = summarized(api, session, "openai-chat", model)
        assert ["tools" in body for body in model.bodies] == [True, False]
        assert made["details"]["input"] == "transcript"


def test_a_view_that_does_not_fit_in_one_call_is_not_sent(database: str) -> None:
    with CachingModel("openai-chat", STORY) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model, turns=24)
        made = summarized(api, session, "openai-chat", model, window=2_000)
        assert not any("tools" in body for body in model.bodies)
        assert made["details"]["input"] == "transcript"


def test_what_is_not_in_the_view_as_it_was_said_is_sent_as_a_transcript(database: str) -> None:
    with CachingModel("openai-chat", STORY) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        api.call("PATCH", session, {"system": "You look twice."})
        made = summarized(api, session, "openai-chat", model)
        assert "12 tests pass" in transcript_of(model)
        assert made["details"]["input"] == "transcript"
        (used,) = model.used
        assert made["details"]["cost_usd"] == pytest.approx(
            prices("openai-chat").cost(used.others, used.output), abs=1e-6
        )


def test_a_summarizer_that_does_not_ride_says_nothing_of_its_input(database: str) -> None:
    with CachingModel("openai-chat", STORY) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        made = summarized(api, session, "openai-chat", model, rides_cache=None)
        transcript_of(model)
        assert "input" not in made["details"]
        assert made["details"]["cost_usd"] > 0


def test_a_secret_in_a_story_of_a_view_is_masked(database: str) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    story = f"{STORY}\n- The token is {token} for the release."
    with CachingModel("openai-chat", story) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        made = summarized(api, session, "openai-chat", model)
        assert made["details"]["input"] == "view"
        assert token not in made["summary"]


def test_a_story_that_repeats_the_question_is_refused(database: str) -> None:
    echo = (
        "## Decided\n- All messages above this one will be taken out of view, and whoever continues has nothing but "
        "your text, so write down whatever would otherwise have to be asked or found out again."
    )
    with CachingModel("openai-chat", echo, STORY) as model, service(database, "openai-chat") as api:
        session, _ = worked(api, "openai-chat", model)
        made = summarized(api, session, "openai-chat", model)
        assert "repeats what it was given" in model.bodies[1]["messages"][-1]["content"]
        assert made["details"]["input"] == "view"


def test_a_summarizer_whose_views_are_never_found_sends_transcripts(database: str) -> None:
    with CachingModel("openai-chat", STORY) as model, service(database, "openai-chat") as api:
        given = {"model": name("openai-chat"), "base_url": model.base_url, "rides_cache": MODELS["openai-chat"]}
        with closing(llm.create("own", NamedSummarizer.model_validate(given))) as summarizer:
            inputs = []
            for _ in range(MOST_MISSES + 1):
                session, _ = worked(api, "openai-chat", None)
                inputs.append(compaction_of(api, session, summarizer)["details"]["input"])
    assert inputs == ["view"] * MOST_MISSES + ["transcript"]
