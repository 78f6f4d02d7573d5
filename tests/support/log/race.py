"""Eight clients that append to one session at the same time: what they say, and how it must have arrived."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from foldline.engine.formats import rules
from foldline.engine.wire import dumps_text

Wire = dict[str, Any]

CLIENTS: Final = 8
APPENDS: Final = 200
MESSAGES: Final = 4
LABEL: Final = re.compile(r"<client (\d+) batch (\d+) message (\d+)>")


def batch_of(client: int, number: int) -> list[Wire]:
    """One append: a complete turn with a tool call, every message labelled."""

    def text(message: int, words: int) -> str:
        return f"<client {client} batch {number} message {message}>" + " fold" * words

    call_id = f"call-{client}-{number}"
    call = {"id": call_id, "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}
    return [
        {"role": "user", "content": text(0, 20)},
        {"role": "assistant", "content": text(1, 10), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": text(2, 120)},
        {"role": "assistant", "content": text(3, 20)},
    ]


def run_clients(append_all: Callable[[int], None]) -> None:
    """Run `append_all(client)` for every client at once; the first failure is raised."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        for future in [pool.submit(append_all, client) for client in range(CLIENTS)]:
            future.result()


def assert_all_arrived(bodies: Iterable[Any]) -> None:
    """Each batch is there once and contiguous, and each client's batches are in its order."""
    found = [tuple(map(int, match.groups())) for body in bodies for match in LABEL.finditer(dumps_text(body))]
    batches = [found[start : start + MESSAGES] for start in range(0, len(found), MESSAGES)]
    for batch in batches:
        client, number, _ = batch[0]
        assert batch == [(client, number, message) for message in range(MESSAGES)]
    for client in range(CLIENTS):
        own = [batch[0][1] for batch in batches if batch[0][0] == client]
        assert own == list(range(APPENDS // CLIENTS))


def assert_valid_view(format_name: str, messages: list[Wire], system: str | None, used: int, limit: int) -> None:
    """The view is within its budget and breaks no rule of its format."""
    assert rules.check(format_name, messages, system) == []
    assert used <= limit
