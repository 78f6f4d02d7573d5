"""Drives a conversation through a service over HTTP: appends each piece, compacts, and reads what the model sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from benchmarks.fidelity.conversation import Piece, size_of, text_of

JsonDict = dict[str, Any]
WINDOW_TOKENS: Final = 200_000
BATCH: Final = 200
WAIT_SECONDS: Final = 60
# A first guess, which a probe of the conversation itself puts right.
CHARS_PER_TOKEN: Final = 4.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model sees after a round: its text, and the lines that Foldline wrote."""

    text: str
    lines: tuple[str, ...]


class Session:
    """A session of a service whose summaries may take so many tokens."""

    def __init__(self, http: httpx.Client, summary_tokens: int) -> None:
        self._http = http
        limit = WINDOW_TOKENS * 0.98 - WINDOW_TOKENS // 4
        policy = {"keep_recent": 1e-6, "summary_share": summary_tokens / limit}
        body = {"model": "nobody/nothing", "context_window": WINDOW_TOKENS, "max_output_tokens": WINDOW_TOKENS // 4}
        self._path = f"/sessions/{self._post('/sessions', {**body, 'policy': policy, 'auto_compact': False})['id']}"

    def compact(self, piece: Piece) -> Seen:
        """What the model sees after this piece and a compaction."""
        for start in range(0, len(piece.messages), BATCH):
            self._post(
                f"{self._path}/messages", {"messages": piece.messages[start : start + BATCH], "format": "openai"}
            )
        self._post(f"{self._path}/compact", {"summarize": True}, {"Prefer": f"wait={WAIT_SECONDS}"})
        answer = self._http.get(f"{self._path}/context", params={"format": "openai"})
        answer.raise_for_status()
        messages = answer.json()["messages"]
        texts = [_text(message) for message in messages]
        said = {_text(message) for message in piece.messages}
        return Seen("\n".join(texts), tuple(line for text in texts if text not in said for line in text.splitlines()))

    def recall(self, query: str) -> str:
        """What one recall with this query brings back, as one text; "" if the service cannot."""
        answer = self._http.get(f"{self._path}/recall", params={"q": query})
        return answer.text if answer.is_success else ""

    def _post(self, path: str, body: JsonDict, headers: JsonDict | None = None) -> JsonDict:
        answer = self._http.post(path, json=body, headers=headers)
        answer.raise_for_status()
        found: JsonDict = answer.json()
        return found


def rounds(http: httpx.Client, made: Sequence[Piece], share: float) -> Iterator[tuple[Session, Seen]]:
    """The session and what the model sees, after each round, if summaries take this share of the first piece's text."""
    chars = size_of(made[0].messages) * share
    probe = Session(http, int(chars / CHARS_PER_TOKEN)).compact(made[0]).text
    session = Session(http, int(chars / CHARS_PER_TOKEN * min(1.2, chars / len(probe))))
    for piece in made:
        yield session, session.compact(piece)


def _text(message: JsonDict) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content)
    return text_of({**message, "content": content})
