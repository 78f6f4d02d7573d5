"""Summaries that agents and providers made of their own history are read as summaries, and never as requests."""

from __future__ import annotations

from typing import Any

import pytest
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.extractive import Extractive

from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, publish
from tests.support.processes.api import Api, Json

CLAUDE_CODE = """\
This session is being continued from a previous conversation that ran out of context. The conversation is summarized \
below:
Summary:
1. Primary Request and Intent:
   Move the invoices service to port 4222.
3. Files and Code Sections:
   - src/app.py
4. Errors and fixes:
   - `make check` failed with PortInUse: the old service was stopped.
7. Pending Tasks:
   - Update the file docs/ports.md.

Please continue the conversation from where we left it off without asking the user any further questions."""
CODEX = """\
Another language model started to solve this problem and produced a summary of its thinking process. Use this to build \
on the work that has already been done:

**Goal**
- Move the invoices service to port 4222.

**Next steps**
- Update the file docs/ports.md."""
PI = """\
The conversation history before this point was compacted into the following summary:

<summary>
## Goal
Move the invoices service to port 4222.

## Next Steps
1. Update the file docs/ports.md.

<modified-files>
src/app.py
</modified-files>
</summary>"""
GEMINI_CLI = """\
<state_snapshot>
    <overall_goal>
        Move the invoices service to port 4222.
    </overall_goal>
    <task_state>
        1. [DONE] Changed src/app.py.
        2. Update the file docs/ports.md.
    </task_state>
</state_snapshot>"""
BLOCK = "## Goal\nMove the invoices service to port 4222.\n\n## Next Steps\n- Update the file docs/ports.md."
AROUND = ("This session", "Another language model", "The conversation history", "<", "Please continue")

WORDS = "so it goes on and on " * 20


def text(role: str, said: str) -> Json:
    return {"role": role, "content": said}


def beside(said: str) -> Json:
    parts = [
        {"type": "text", "text": "<system-reminder>The date is known.</system-reminder>"},
        {"type": "text", "text": said},
    ]
    return {"role": "user", "content": parts}


def gemini(role: str, said: str) -> Json:
    return {"role": {"assistant": "model"}.get(role, role), "parts": [{"text": said}]}


def block(said: str) -> Json:
    return {
        "role": "assistant",
        "content": [{"type": "compaction", "content": said}, {"type": "text", "text": "Right."}],
    }


CASES: dict[str, tuple[str, list[Json], Any]] = {
    "claude code": ("anthropic", [text("user", CLAUDE_CODE)], text),
    "claude code beside a reminder": ("anthropic", [beside(CLAUDE_CODE)], text),
    "codex": ("openai", [text("user", CODEX)], text),
    "pi": ("openai", [text("user", PI)], text),
    "gemini cli": ("gemini", [gemini("user", GEMINI_CLI), gemini("assistant", "Got it.")], gemini),
    "anthropic": ("anthropic", [text("user", "Hello."), block(BLOCK)], text),
}


def lines_of(api: Api, format_name: str, first: list[Json], say: Any) -> tuple[list[Json], list[str]]:
    """The lines of a summary of these messages and some that follow; the ids of the entries of `first`."""
    session = api.session(auto_compact=False)
    sent = api.say(session, *first, format=format_name)
    for number in range(4):
        turn = say("user", f"Look at part {number}. {WORDS}"), say("assistant", f"Part {number}: {WORDS}")
        api.say(session, *turn, format=format_name)
    api.post(f"{session}/compact", {"summarize": True}, 202)
    while (claim := claims.claim(api.store, INTERACTIVE)) is not None:
        publish.publish(api.store, claim, Extractive().summarize(claim.request, Cancellation()))
    *_, newest = (made["id"] for made in api.get(f"{session}/compactions")["items"] if made["reason"] == "summary")
    return api.get(f"{session}/compactions/{newest}")["lines"], sent["entry_ids"]


@pytest.mark.parametrize("case", CASES)
def test_it_is_read_by_its_headings(api: Api, case: str) -> None:
    lines, entries = lines_of(api, *CASES[case])

    said = {line["text"]: line for line in lines}
    goal, step = said["Move the invoices service to port 4222."], said["Update the file docs/ports.md."]
    assert (goal["kind"], step["kind"]) == ("request", "request")
    assert {goal["entry_id"], step["entry_id"]} <= set(entries)
    assert not [name for name in said if name.startswith(AROUND)], "what stands around a summary says nothing"


def test_a_sealed_block_of_openai_asks_for_nothing(api: Api) -> None:
    sealed = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VhbGVk"}
    first = [{"type": "message", "role": "user", "content": "Hello."}, sealed]

    lines, entries = lines_of(api, "responses", first, lambda role, said: {"type": "message", **text(role, said)})

    assert len(entries) == len(first)
    assert not [line for line in lines if "compaction" in line["text"] or "c2VhbGVk" in line["text"]]
