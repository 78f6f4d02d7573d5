"""Words that nothing else has, said in all the ways in which something can be said, and looked for in files."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

Json = dict[str, Any]
# A way in which something is said, and a word that is said so. One has other letters, which JSON may escape.
WORDS: Final = {
    "system": "zorbagak",
    "system before": "zorbegak",
    "tool": "zorbigak",
    "message": "zorbogak",
    "letters": "zörbügak",
    "arguments": "zorbugak",
    "result": "zorbafak",
    "pin": "zorbefak",
    "instructions": "zorbifak",
    "branch": "zorbofak",
    "import": "zorbufak",
    "gateway": "zorbalak",
    "gateway system": "zorbelak",
    "key": "zorbilak",
}
OTHERS_WORD: Final = "zorbolak"
WAIT: Final = {"Prefer": "wait=30"}


def found_in(folder: Path, words: Iterable[str]) -> set[str]:
    """The words that are in any file below a folder, as UTF-8, UTF-16 or escaped JSON."""
    forms = {word: (word.encode(), json.dumps(word)[1:-1].encode(), word.encode("utf-16-le")) for word in words}
    found: set[str] = set()
    for file in folder.rglob("*"):
        content = _content(file)
        found |= {word for word, encoded in forms.items() if any(form in content for form in encoded)}
    return found


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""
    except FileNotFoundError:
        return b""


@dataclass
class Speaker:
    """A tenant that says each of the words once in its own way."""

    client: httpx.Client
    key: str

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The JSON of an answer that is no refusal."""
        own = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": secrets.token_hex(8)}
        answer = self.client.request(method, path, json=body, headers={**own, **headers})
        assert answer.is_success, answer.text
        return answer.json() if "application/json" in answer.headers.get("content-type", "") else answer.text

    def say_all(self) -> None:
        """Say each of the words, and have summaries and an index made of them."""
        path = self._talk()
        self.send("POST", f"{path}/pins", {"text": f"Mind the {WORDS['pin']}."})
        (item, *_) = self.send("GET", f"{path}/ledger")["items"]
        self.send("POST", f"{path}/ledger/{item['id']}/dismiss")
        request = {"summarize": True, "target_tokens": 1_500, "instructions": f"Keep the {WORDS['instructions']}."}
        assert self.send("POST", f"{path}/compact", request, **WAIT)["job"]["state"] == "succeeded"
        for name in ("message", "result"):
            assert self.send("GET", f"{path}/recall?q={WORDS[name]}")["items"]
        self._leave(path)
        self.send("PATCH", path, {"system": f"You are a {WORDS['system']}."})
        file = self.send("GET", f"{path}/export").replace(WORDS["message"], WORDS["import"])
        self.send("POST", "/import", {"file": file, "id": "copy", "model": "openai/gpt-4o"})
        self._talk_to_gateway()
        self.send("POST", "/keys", {"name": WORDS["key"], "scopes": ["read"]})

    def say(self, word: str) -> None:
        """Say one word in a session of its own."""
        path = f"/sessions/{self.send('POST', '/sessions', {'model': 'openai/gpt-4o'})['id']}"
        self.send("POST", f"{path}/messages", {"messages": [{"role": "user", "content": word}]})

    def _talk(self) -> str:
        function = {"name": "look", "description": f"Looks for a {WORDS['tool']}.", "parameters": {"type": "object"}}
        new = {
            "model": "nobody/nothing",
            "context_window": 4_000,
            "system": f"You are a {WORDS['system before']}.",
            "tools": [{"type": "function", "function": function}],
        }
        path = f"/sessions/{self.send('POST', '/sessions', new)['id']}"
        arguments = json.dumps({"path": f"{WORDS['arguments']}.py"})
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
        said = [
            {"role": "user", "content": f"Never feed the {WORDS['message']} {noise()}"},
            {"role": "assistant", "content": f"The {WORDS['letters']}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": f"A {WORDS['result']} {noise()}"},
        ]
        self.first = self.send("POST", f"{path}/messages", {"messages": said})["entry_ids"][0]
        for _ in range(8):
            turn = [{"role": role, "content": noise()} for role in ("assistant", "user")]
            self.send("POST", f"{path}/messages", {"messages": turn})
        return path

    def _leave(self, path: str) -> None:
        request = {"entry_id": self.first, "summarize": True, "instructions": f"Keep the {WORDS['branch']}."}
        self.send("POST", f"{path}/branch", request, **WAIT)

    def _talk_to_gateway(self) -> None:
        body = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 100,
            "system": f"You are a {WORDS['gateway system']}.",
            "messages": [{"role": "user", "content": f"Feed the {WORDS['gateway']}."}],
        }
        headers = {"Authorization": "Bearer provider", "X-Foldline-Key": self.key, "anthropic-version": "2023-06-01"}
        assert self.client.post("/anthropic/v1/messages", json=body, headers=headers).is_success


def noise() -> str:
    """Text that a database cannot compress."""
    return secrets.token_hex(80)
