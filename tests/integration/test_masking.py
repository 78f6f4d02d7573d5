"""From a session with secrets to a hosted summarizer over real HTTP: what reaches it, and what the session keeps."""

from __future__ import annotations

import json
from contextlib import closing

from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.llm import LLM
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.wires import WIRES

from foldline.engine.messages import Message, Text, ToolCall, ToolResult
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.tokens.counter import count_text
from foldline.log.jobs import publish
from foldline.log.jobs.leases import Claim
from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.log.sessions import Scene, calls, turns, user
from tests.support.made_up_secrets import EXAMPLES, made_up
from tests.support.processes import scripted_llm as scripted
from tests.support.processes.databases import only_sqlite
from tests.support.processes.scripted_llm import ScriptedLLM

database_kind = only_sqlite

__all__ = ["clock", "new_scene", "scene", "store"]

SAID, CALLED, GOT, ASKED, SUMMED = (
    EXAMPLES[name]
    for name in ("a password in a sentence", "a token of GitHub", "a private key", "a key of Anthropic", "a cookie")
)
SECRETS = [example.secret for example in (SAID, CALLED, GOT, ASKED, SUMMED)]


def summarized(llm: ScriptedLLM, request: SummaryInput, input_tokens: int = 8_000) -> SummaryDraft:
    client = ModelClient(WIRES["openai-chat"], base_url=llm.base_url, api_key=None, model="small", timeout_seconds=10)
    with closing(LLM(client, Bounds(input_tokens))) as summarizer:
        return summarizer.summarize(request, Cancellation())


def summarize(scene: Scene, llm: ScriptedLLM, claim: Claim) -> None:
    assert publish.publish(scene.store, claim, summarized(llm, claim.request)) == "succeeded"


def test_no_secret_of_a_session_reaches_the_summarizer_and_the_session_keeps_them_all(scene: Scene) -> None:
    scene.resize(6_000)
    arguments = json.dumps({"command": f"curl -H 'Authorization: Bearer {CALLED.secret}'", "cwd": "/srv/app"})
    scene.append({"role": "user", "content": SAID.text}, calls("c1", arguments=arguments))
    scene.append({"role": "tool", "tool_call_id": "c1", "content": f"$ cat key.pem\n{GOT.text}\n"}, *turns(4, 200))
    said = json.dumps(scene.wire())
    # A summary from before masking, or by a summarizer of another kind, may hold one.
    with ScriptedLLM() as llm:
        scene.compact(instructions=f"keep the key {ASKED.text}", target_tokens=900)
        claim = scene.claimed()
        summarized(llm, claim.request)
        first = llm.requests.pop().prompt
        old = SummaryDraft(f"## Asked\n- to log in with {SUMMED.text}", degraded=False, summarizer="openai", model="m")
        assert publish.publish(scene.store, claim, old) == "succeeded"
        assert SUMMED.secret in json.dumps(scene.wire()), "the view shows a summary as it was written"
        scene.append(*turns(4, 200), user(20))
        scene.compact(target_tokens=900)
        claim = scene.claimed()
        assert SUMMED.secret in claim.request.previous[0]
        summarize(scene, llm, claim)
        second = "\n".join(request.prompt for request in llm.requests)
    assert not any(secret in first + second for secret in SECRETS)
    for masked in (SAID.masked, "Bearer [secret removed: github token]'", GOT.masked, ASKED.masked.strip()):
        assert masked in first
    assert '"cwd":"/srv/app"' in first
    assert SUMMED.masked.strip() in second
    while scene.live:
        scene.undo(scene.live[0])
    kept = json.dumps(scene.wire())
    assert kept.startswith(said[:-1])
    assert SAID.secret in kept
    assert CALLED.secret in kept


def test_no_part_of_a_secret_is_left_where_the_input_is_cut() -> None:
    tokens = [f"ghp{'_'}{made_up(36)}" for _ in range(400)]
    output = " ".join(tokens)
    conversation = (
        Message("user", (Text(output),)),
        Message("assistant", (ToolCall("c", "run", json.dumps({"text": output})),)),
        Message("tool", (ToolResult("c", (Text(output),)),)),
    )
    request = SummaryInput((output,), conversation, 200, output)
    with ScriptedLLM(scripted.OVERFLOW) as llm:
        assert not summarized(llm, request, 4_000).degraded
    assert all(count_text(sent.prompt) <= 4_000 for sent in llm.requests)
    parts = {token[start : start + 8] for token in tokens for start in range(len(token) - 7)}
    assert not any(part in sent.prompt for sent in llm.requests for part in parts)


def test_the_extractive_summary_that_stands_in_is_made_from_the_originals() -> None:
    said = Message("user", (Text(f"You must log in with {CALLED.text} first."),))
    request = SummaryInput((), (said, Message("assistant", (Text("I will."),))), 200)
    with ScriptedLLM(default=scripted.EMPTY) as llm:
        draft = summarized(llm, request)
    assert draft.degraded
    assert draft.text == extractive.summarize(request)
    assert CALLED.secret in draft.text
    assert not any(CALLED.secret in sent.prompt for sent in llm.requests)
