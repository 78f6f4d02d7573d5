"""OpenAI's endpoint for compactions on loopback, over real HTTP: only its own models can read what it answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]


@dataclass
class CompactingOpenAI:
    """Answers the user's messages and a sealed item; `requests` are those it got, as (path, key, body)."""

    url: str = ""
    requests: list[tuple[str, str | None, Json]] = field(default_factory=list)

    def answer(self, path: str, key: str | None, body: Json) -> tuple[int, Json]:
        """Status and body of the answer to a request."""
        self.requests.append((path, key, body))
        sealed = base64.b64encode(f"{len(body['input'])} items".encode()).decode()
        item = {"type": "compaction", "id": f"cmp_{len(self.requests)}", "encrypted_content": sealed}
        asked = [item for item in body["input"] if item.get("role") == "user"]
        return 200, {
            "id": "resp_1",
            "object": "response.compaction",
            "created_at": 1,
            "output": [*asked, item],
            "usage": {"input_tokens": 900, "output_tokens": 80, "total_tokens": 980},
        }


@contextmanager
def compacting_openai() -> Iterator[CompactingOpenAI]:
    """Such an endpoint, listening; `url` ends with /v1."""
    provider = CompactingOpenAI()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = provider.answer(self.path, self.headers.get("Authorization"), body)
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
