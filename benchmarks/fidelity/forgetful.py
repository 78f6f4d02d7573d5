"""A model that writes stories which lose everything: fluent words of the conversation, and none of its facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from foldline.engine.wire import dumps, loads

WORDS: Final = 48
WORDS_A_LINE: Final = 8
_WORD: Final = re.compile(r"(?<!\S)[a-zà-ÿ]{4,14}(?!\S)|[\u4e00-\u9fff]{2}")


@contextmanager
def forgetful_model() -> Iterator[str]:
    """The address of such a model, with /v1, while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the benchmark prints a table."""

    def do_POST(self) -> None:
        """Answer a chat completion."""
        body = loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": story_of(str(body["messages"][-1]["content"]))}
        data = dumps({"model": "forgetful", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def story_of(asked: str) -> str:
    """The commonest words of what was asked about, a few a line."""
    common = [word for word, _ in Counter(_WORD.findall(asked)).most_common(WORDS)]
    lines = (common[start : start + WORDS_A_LINE] for start in range(0, len(common), WORDS_A_LINE))
    return "\n".join(["## Decided", *(f"- the work went on with {' and '.join(line)}" for line in lines)])
