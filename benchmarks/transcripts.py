"""A generated coding-agent session: reads, searches, edits and test runs, about two kilobytes a message."""

from __future__ import annotations

import json
import random
from typing import Any, Final

VERBS: Final = ("return", "raise", "import", "assert", "await", "commit", "summarize", "condense", "append", "replay")
NOUNS: Final = ("session", "entry", "token", "budget", "view", "plan", "edit", "window", "worker", "lease", "index")
OTHERS: Final = ("async", "def", "from", "class", "self", "value", "error", "config", "path", "file", "line", "total")
USER_EVERY: Final = 40
WORDS: Final = (*VERBS, *NOUNS, *OTHERS)


def transcript(entries: int, seed: int = 7) -> list[dict[str, Any]]:
    """`entries` OpenAI messages: a user message about every forty, tool calls with their results in between."""
    rng = random.Random(seed)
    messages: list[dict[str, Any]] = []
    asked_at = -USER_EVERY
    while len(messages) < entries:
        number = len(messages)
        if number >= asked_at + USER_EVERY:
            asked_at = number
            messages.append({"role": "user", "content": f"Please look at issue {number}: {_prose(rng, 60)}"})
            continue
        path = f"src/module_{rng.randrange(60)}.py"
        messages.append(_call(f"call_{number}", rng, path))
        messages.append(
            {"role": "tool", "tool_call_id": f"call_{number}", "content": _code(rng, rng.randrange(10, 130))}
        )
    return messages[:entries]


def _call(call_id: str, rng: random.Random, path: str) -> dict[str, Any]:
    name, arguments = rng.choice(
        [
            ("read_file", {"path": path}),
            ("grep", {"pattern": rng.choice(WORDS), "path": "src"}),
            ("edit", {"path": path, "old": _code(rng, 4), "new": _code(rng, 5)}),
            ("bash", {"command": f"python -m pytest {path} -q"}),
        ]
    )
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": _prose(rng, 25), "tool_calls": [call]}


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def _code(rng: random.Random, lines: int) -> str:
    return "\n".join(f"{number:5}    {' '.join(rng.choices(WORDS, k=8))}" for number in range(lines))
