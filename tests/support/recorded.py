"""Recorded sessions for tests that start the program: made here, seeded, and long enough to be compacted."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

JsonDict = dict[str, Any]
WORDS = ("fold", "the", "window", "keep", "every", "result", "read", "plan", "branch", "view", "token", "test", "error")
FILES = ("src/app.py", "src/store.py", "README.md")


def coding_session(seed: int, turns: int = 6, calls: int = 4) -> list[JsonDict]:
    """OpenAI messages of a coding agent: reads, some of them again, in parallel, now and then unanswered or late."""
    random = Random(seed)
    messages: list[JsonDict] = [{"role": "system", "content": "You are a careful agent."}]
    number = 0
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Request {turn}: {prose(random, 20)}"})
        for _ in range(calls):
            ids = [f"call_{number + index}" for index in range(random.choice((1, 1, 2, 3)))]
            number += len(ids)
            messages.append(_calling(random, ids))
            answered = ids if random.random() < 0.9 else ids[:-1]
            messages.extend(_result(random, call_id) for call_id in answered)
        messages.append({"role": "assistant", "content": f"Answer {turn}: {prose(random, 30)}"})
    return messages


def chat_session(seed: int, turns: int = 20) -> list[JsonDict]:
    """Messages without tools, the same in every format."""
    random = Random(seed)
    return [
        {"role": role, "content": f"{role} {turn}: {prose(random, 40)}"}
        for turn in range(turns)
        for role in ("user", "assistant")
    ]


def anthropic_session(seed: int, turns: int = 5) -> list[JsonDict]:
    """Anthropic messages: calls with their results and the next request in one user message."""
    random = Random(seed)
    messages: list[JsonDict] = [{"role": "user", "content": f"Request: {prose(random, 20)}"}]
    for turn in range(turns):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read_file", "input": {"path": random.choice(FILES)}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": prose(random, 10)}, call]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": prose(random, 300)}
        request = {"type": "text", "text": f"Request {turn}: {prose(random, 10)}"}
        messages.append({"role": "user", "content": [result, request]})
        messages.append({"role": "assistant", "content": prose(random, 20)})
        messages.append({"role": "user", "content": prose(random, 10)})
    return messages


def prose(random: Random, words: int) -> str:
    """Some words in a row."""
    return " ".join(random.choice(WORDS) for _ in range(words))


def _calling(random: Random, ids: list[str]) -> JsonDict:
    calls = []
    for call_id in ids:
        arguments = json.dumps({"path": random.choice(FILES)})
        calls.append({"id": call_id, "type": "function", "function": {"name": "read_file", "arguments": arguments}})
    return {"role": "assistant", "content": random.choice((None, prose(random, 8))), "tool_calls": calls}


def _result(random: Random, call_id: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": prose(random, random.choice((20, 200, 600)))}


def write_sessions(path: Path, **sessions: list[JsonDict]) -> Path:
    """A JSON Lines file with these sessions by id."""
    lines = (json.dumps({"id": name, "messages": messages}) + "\n" for name, messages in sessions.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path
