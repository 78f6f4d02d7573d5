"""Drives recorded sessions through a service over HTTP: appends them, puts all but the newest out of view, and asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

from foldline.replay.transcripts import Transcript

JsonDict = dict[str, Any]
BATCH: Final = 100
PAGE: Final = 500
WINDOW_TOKENS: Final = 1_000_000
# Next to nothing is kept recent, and the summary is small.
POLICY: Final = {"keep_recent": 1e-6, "summary_share": 0.002}


@dataclass(frozen=True, slots=True)
class Answered:
    """The ids of the entries that a recall names, best first, its text, and how long it took."""

    entries: tuple[str, ...]
    text: str
    seconds: float


class Session:
    """A recorded session in a service."""

    def __init__(self, http: httpx.Client, transcript: Transcript) -> None:
        self._http = http
        body = {"model": "nobody/nothing", "context_window": WINDOW_TOKENS, "policy": POLICY, "auto_compact": False}
        self._path = f"/sessions/{self._post('/sessions', body)['id']}"
        for start in range(0, len(transcript.messages), BATCH):
            batch = transcript.messages[start : start + BATCH]
            self._post(f"{self._path}/messages", {"messages": batch, "format": transcript.format})
        self._post(f"{self._path}/compact", {"summarize": True}, {"Prefer": "wait=60"})

    def texts_out_of_view(self) -> dict[str, str]:
        """The text of each entry that is out of view, by its id."""
        return {entry["id"]: text_of(entry["message"]) for entry in self._entries() if _is_out_of_view(entry)}

    def recall(self, question: str) -> Answered:
        """What one recall answers."""
        start = time.perf_counter()
        answer = self._http.get(f"{self._path}/recall", params={"q": question})
        seconds = time.perf_counter() - start
        answer.raise_for_status()
        items = answer.json()["items"]
        return Answered(tuple(item["entry_id"] for item in items), answer.text, seconds)

    def _entries(self) -> Iterator[JsonDict]:
        cursor: str | None = ""
        while cursor is not None:
            first = {"cursor": cursor} if cursor else {}
            page = self._http.get(f"{self._path}/entries", params={"limit": str(PAGE), **first}).json()
            yield from page["items"]
            cursor = page["next_cursor"]

    def _post(self, path: str, body: JsonDict, headers: JsonDict | None = None) -> JsonDict:
        answer = self._http.post(path, json=body, headers=headers)
        answer.raise_for_status()
        found: JsonDict = answer.json()
        return found


def _is_out_of_view(entry: JsonDict) -> bool:
    return entry["kind"] == "message" and bool(entry["tags"])


def text_of(value: Any) -> str:
    """All texts in a wire message: contents, and the arguments of calls."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(text_of, value))
    if isinstance(value, dict):
        return "\n".join(
            text_of(value[key]) for key in ("content", "text", "tool_calls", "function", "arguments") if key in value
        )
    return ""
