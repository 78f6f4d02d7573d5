"""What is seen of an agent's session through the service: an undo while it works, a branch, and what was stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx

from tests.agents.kinds import HEADER, KEY
from tests.support.processes.agent_provider import APIS, AgentProvider
from tests.support.processes.http import client, items_of

# A request of the beginning, which went on as it came; its last message is edited.
EARLY = 4
EDITED = "Leave out what comes next."
LAST = "All parts are read."


class SessionChecks:
    """The checks of one agent; `wrong` has what did not hold."""

    def __init__(self, address: str, provider: AgentProvider) -> None:
        self.wrong: list[str] = []
        self._http = client(address, timeout_seconds=60)
        self._http.headers[HEADER] = KEY
        self._provider = provider

    def undo_newest(self) -> None:
        """Undo the newest compaction of the session that has any."""
        for session in items_of(self._http, "/sessions"):
            live = [made for made in self._compactions(session["id"]) if made["live"]]
            if live:
                answer = self._http.post(f"/sessions/{session['id']}/compactions/{live[-1]['id']}/undo", json={})
                self.wrong += [] if answer.is_success else [f"undo: {answer.text[:200]}"]
                return
        self.wrong.append("there was no compaction to undo")

    def _compactions(self, session_id: str) -> list[Any]:
        return items_of(self._http, f"/sessions/{session_id}/compactions")

    def look_at_the_end(self) -> None:
        """The last answer is stored; then an early request whose last message was edited begins a second line."""
        sessions = [session["id"] for session in items_of(self._http, "/sessions")]
        if not any(LAST in json.dumps(items_of(self._http, f"/sessions/{name}/entries")) for name in sessions):
            self.wrong.append("the last answer is not stored")
        headers, raw = next(self._early())
        body = json.loads(raw)
        messages = body[APIS[headers["path"].partition("?")[0]].messages]
        messages.append({"role": "user", "content": EDITED})
        body["stream"] = False
        answer = self._sent(headers, body)
        session = answer.headers.get("x-foldline-session", "")
        if not answer.is_success or not session:
            self.wrong.append(f"an edited request: {answer.status_code} {answer.text[:200]}")
            return
        branches = len(items_of(self._http, f"/sessions/{session}/branches"))
        self.wrong += [
            *([] if branches == 2 else [f"{branches} branches, where one message was edited"]),
            *([] if self._provider.requests[-1] == body else ["the edited request did not go on as it came"]),
        ]

    def _early(self) -> Iterator[tuple[dict[str, str], bytes]]:
        """Requests of the agent's own conversation at its beginning, which has tools."""
        posted = [headers for headers in self._provider.headers if headers["path"].partition("?")[0] in APIS]
        for headers, raw in zip(posted, self._provider.raw, strict=True):
            body = json.loads(raw)
            if body.get("tools") and len(body[APIS[headers["path"].partition("?")[0]].messages]) > EARLY:
                yield headers, raw

    def _sent(self, headers: dict[str, str], body: Any) -> httpx.Response:
        own = {name: value for name, value in headers.items() if name not in {"path", "host", "content-length"}}
        prefix = "/anthropic" if headers["path"].startswith("/v1/messages") else "/openai"
        sent = {**own, "accept-encoding": "identity", "connection": "close"}
        return self._http.post(prefix + headers["path"], json=body, headers=sent)
