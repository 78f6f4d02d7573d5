"""Sessions that their model's own provider compacts, driven against a provider that checks what it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import httpx
import pytest

from foldline.replay.embedded import embedded_service
from tests.support.eventually import eventually
from tests.support.processes.compacting_openai import compacting_openai
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client
from tests.support.processes.signed_agent import Agent
from tests.support.processes.signing_provider import COMPACTION_HEADER, SigningProvider, signing_provider

database_kind = only_sqlite

Json = dict[str, Any]
MODEL = "anthropic/claude-opus-5-5"
POLICY = {"summarizer": "provider", "stages": ["summarize", "truncate"]}
SESSIONS = [pytest.param(seed, marks=() if seed < 1 else pytest.mark.thorough) for seed in range(20)]
SECRET = "The code name of the merger is Bluebird."
HEADERS = {"anthropic-beta": COMPACTION_HEADER}


@contextmanager
def working(seed: int) -> Iterator[tuple[httpx.Client, SigningProvider]]:
    """A provider, and a service that may ask it for its compaction."""
    with signing_provider(seed) as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDLINE_ANTHROPIC_API_KEY", "sk-made-up")
        patch.setenv("FOLDLINE_ANTHROPIC_BASE_URL", provider.url.removesuffix("/v1/messages"))
        with embedded_service() as url, client(url) as service:
            yield service, provider


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[httpx.Client, SigningProvider]]:
    with working(7) as both:
        yield both


@pytest.fixture
def agent(both: tuple[httpx.Client, SigningProvider]) -> Agent:
    service, provider = both
    provider.is_overloaded = False
    provider.blocks_taken = provider.refusals = 0
    provider.compactions.clear()
    return Agent(service, provider, MODEL, policy=POLICY)


def compacted(agent: Agent) -> Json:
    """A view after the next summary: the agent talks without tools until there is one."""
    before = len(agent.list("jobs"))
    for number in range(40):
        agent.say(f"{number} " + "so it goes " * 60)
        agent.answer()
        if len(agent.list("jobs")) > before:
            eventually(lambda: agent.list("jobs")[-1]["state"] not in {"queued", "running"})
            return agent.view
    pytest.fail("no summary was asked for")


def first_block(view: Json) -> Any:
    content = view["messages"][0]["content"]
    return content[0] if isinstance(content, list) else {"type": "text"}


@pytest.mark.parametrize("seed", SESSIONS)
def test_no_view_is_refused_over_a_whole_session(seed: int) -> None:
    with working(seed) as (service, provider):
        agent = Agent(service, provider, MODEL, policy=POLICY)
        agent.work(60, Random(seed))

        assert any(item["reason"] == "summary" for item in agent.list("compactions"))
        assert provider.compactions
        assert provider.blocks_taken > 0
        assert provider.refusals == 0


def test_reasoning_after_the_block_stays(agent: Agent) -> None:
    view = compacted(agent)

    assert first_block(view)["type"] == "compaction"
    assert view["request_headers"] == HEADERS
    (job,) = agent.list("jobs")
    assert (job["summarizer"], job["declined"], job["usage"]) == ("anthropic", None, {"input": 1_000, "output": 100})
    kept = [message for message in view["messages"][1:] if message["role"] == "assistant"]
    assert view["reasoning"] == {"shown": len(kept), "left_out": {}}
    assert kept
    agent.say("go on")
    agent.answer()
    assert agent.provider.refusals == 0
    assert agent.provider.blocks_taken == 1


def test_the_next_block_covers_the_one_before(agent: Agent) -> None:
    first, second = (first_block(compacted(agent)) for _ in range(2))

    assert [first["type"], second["type"]] == ["compaction", "compaction"]
    assert first != second
    earlier, later = (request["messages"] for request in agent.provider.compactions)
    assert later[: len(earlier)] == earlier
    assert len(later) > len(earlier)
    assert agent.provider.refusals == 0


def test_other_formats_models_and_pins_get_the_readable_summary(agent: Agent) -> None:
    block = first_block(compacted(agent))

    for query in ("format=openai", "format=native", "format=anthropic&model=anthropic/claude-sonnet-4-5"):
        other = agent.ask("GET", f"{agent.path}/context?{query}")
        assert block["content"] in str(other["messages"][:2])
        assert block["signature"] not in str(other)
        assert other["request_headers"] == {}
    agent.say("go on")
    agent.answer()
    assert agent.ask("GET", f"{agent.path}/context?format=native")["reasoning"]["shown"] == 0, (
        "it is bound to the block"
    )
    assert agent.view["reasoning"]["left_out"] == {}
    pin = agent.ask("POST", f"{agent.path}/pins", {"text": "never rebase"})
    pinned = agent.view
    assert "never rebase" in str(pinned["messages"][0])
    assert pinned["reasoning"]["shown"] == 0
    agent.service.delete(f"{agent.path}/pins/{pin['id']}").raise_for_status()
    assert first_block(agent.view) == block


def test_an_undo_shows_the_originals_with_their_reasoning(agent: Agent) -> None:
    compacted(agent)
    (made,) = agent.list("compactions")

    agent.ask("POST", f"{agent.path}/compactions/{made['id']}/undo")
    view = agent.view
    answers = [message for message in view["messages"] if message["role"] == "assistant"]
    assert view["reasoning"] == {"shown": len(answers), "left_out": {}}
    assert view["request_headers"] == {}
    agent.ask("POST", f"{agent.path}/redo")
    assert first_block(agent.view)["type"] == "compaction"
    agent.say("go on")
    agent.answer()
    assert agent.provider.refusals == 0


def test_what_the_provider_declines_the_summarizer_of_the_service_writes(agent: Agent) -> None:
    agent.change(system=SECRET)
    agent.provider.is_overloaded = True
    view = compacted(agent)

    (job,) = agent.list("jobs")
    assert (job["state"], job["summarizer"]) == ("succeeded", "extractive")
    assert job["declined"].startswith("anthropic wrote no summary: HTTP 400")
    assert SECRET not in job["declined"]
    assert len(agent.provider.compactions) == 1
    assert first_block(view)["type"] != "compaction"
    assert view["request_headers"] == {}


def test_a_refused_block_gives_way_to_its_text(agent: Agent) -> None:
    block = first_block(compacted(agent))
    agent.provider.forget_blocks()

    agent.say("go on")
    agent.answer()
    assert agent.provider.refusals == 1
    healed = agent.view
    assert healed["request_headers"] == {}
    assert block["content"] in str(healed["messages"][0])
    assert agent.list("compactions")[-1]["reason"] == "reasoning"
    assert first_block(compacted(agent))["type"] == "compaction"
    assert agent.provider.refusals == 1


def test_a_session_with_pins_is_not_sent_to_its_provider(agent: Agent) -> None:
    agent.ask("POST", f"{agent.path}/pins", {"text": "never rebase"})
    compacted(agent)

    assert agent.list("jobs")[-1]["state"] == "succeeded"
    assert agent.provider.compactions == []


def test_instructions_reach_the_provider(agent: Agent) -> None:
    for number in range(6):
        agent.say(f"{number} " + "so it goes " * 40)
        agent.answer()
    asked: httpx.Response = agent.service.post(
        f"{agent.path}/compact", json={"instructions": "keep the names of ships"}, headers={"Prefer": "wait=20"}
    )

    assert asked.json()["job"]["state"] == "succeeded", asked.text
    (request,) = agent.provider.compactions
    assert "keep the names of ships" in request["compaction"]["instructions"]
    assert request["system"] == "You look."
    assert first_block(agent.view)["type"] == "compaction"


def test_openai_keeps_its_items_and_others_get_a_text() -> None:
    with compacting_openai() as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDLINE_OPENAI_API_KEY", "sk-made-up")
        patch.setenv("FOLDLINE_OPENAI_BASE_URL", provider.url)
        with embedded_service() as url, client(url) as service:
            path, said = talk_in_items(service)
            asked = service.post(f"{path}/compact", json={}, headers={"Prefer": "wait=20"}).json()
            view = service.get(f"{path}/context?format=responses").json()
            chat = service.get(f"{path}/context?format=openai").json()

    assert asked["job"]["state"] == "succeeded", asked
    ((address, key, body),) = provider.requests
    assert (address, key) == ("/v1/responses/compact", "Bearer sk-made-up")
    assert body["model"] == "gpt-5.5"
    assert body["instructions"] == "You sail."
    assert body["input"] == said[: len(body["input"])]
    sealed = next(index for index, item in enumerate(view["messages"]) if item["type"] == "compaction")
    assert [item["role"] for item in view["messages"][:sealed]] == ["user"] * sealed
    assert view["messages"][sealed + 1 :] == said[len(body["input"]) :]
    assert view["reasoning"]["left_out"] == {}
    assert view["reasoning"]["shown"] > 0
    assert "encrypted_content" not in str(chat)
    assert "course 1" in str(chat["messages"][1])


def talk_in_items(service: httpx.Client) -> tuple[str, list[Json]]:
    """The path of a session of sealed reasoning in Responses items, and all its items."""
    policy = {**POLICY, "keep_recent": 0.3}
    body = {"model": "openai/gpt-5.5", "context_window": 16_000, "system": "You sail.", "policy": policy}
    path = f"/sessions/{service.post('/sessions', json=body).json()['id']}"
    said: list[Json] = []
    for number in range(12):
        asked = {"type": "message", "role": "user", "content": f"which course {number}?"}
        thought = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"sealed{number}" * 9}
        answer = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": f"course {number} " + "and so on " * 90, "annotations": []}],
        }
        for items in ([asked], [thought, answer]):
            sent = {"messages": items, "format": "responses"}
            service.post(f"{path}/messages", json=sent).raise_for_status()
        said += [asked, thought, answer]
    return path, said
