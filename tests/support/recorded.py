"""Generated sessions for tests that start the program: seeded, and long enough to be compacted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

JsonDict = dict[str, Any]
WORDS = ("fold", "the", "window", "keep", "every", "result", "read", "plan", "branch", "view", "token", "test", "error")
NON_LATIN_WORDS = (
    "你好",
    "景点",
    "推荐一个",
    "评分4.5以上",
    "电话多少",
    "地铁",
    "酒店的早餐",
    "ありがとう",
    "절대",
    "спасибо",
    "مرحبا",
)
FILES = ("src/app.py", "src/store.py", "README.md")
READ_FILE: JsonDict = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a file of the repository.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def coding_session(seed: int, turns: int = 6, calls: int = 4) -> list[JsonDict]:
    """OpenAI messages of a coding agent: reads, some repeated or in parallel, and a few without a result or late."""
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


def chat_session(seed: int, turns: int = 20, length: int = 40, words: Sequence[str] = WORDS) -> list[JsonDict]:
    """Messages of `length` words without tools, the same in every format."""
    random = Random(seed)
    return [
        {"role": role, "content": f"{role} {turn}: {prose(random, length, words)}"}
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


def prose(random: Random, length: int, words: Sequence[str] = WORDS) -> str:
    """Some words in a row."""
    return " ".join(random.choice(words) for _ in range(length))


def _calling(random: Random, ids: list[str]) -> JsonDict:
    calls = []
    for call_id in ids:
        arguments = json.dumps({"path": random.choice(FILES)})
        calls.append({"id": call_id, "type": "function", "function": {"name": "read_file", "arguments": arguments}})
    return {"role": "assistant", "content": random.choice((None, prose(random, 8))), "tool_calls": calls}


def _result(random: Random, call_id: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": prose(random, random.choice((20, 200, 600)))}


def write_sessions(path: Path, *, tools: Sequence[JsonDict] = (), **sessions: list[JsonDict]) -> Path:
    """A JSON Lines file with these sessions by id, each with the same tools."""
    declared = {"tools": list(tools)} if tools else {}
    lines = (json.dumps({"id": name, "messages": messages, **declared}) + "\n" for name, messages in sessions.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path
