"""A model on loopback with a prompt cache, which says in its usage how much of a request it had read before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from foldline.engine.tokens.counter import count_text
from foldline.engine.wire import dumps, dumps_text, loads

JsonDict = dict[str, Any]


class Used(NamedTuple):
    """The tokens of a request that were read from the cache, and others."""

    cached: int
    others: int
    output: int


@dataclass(frozen=True, slots=True)
class CachingDialect:
    """Where a request has its messages, and a whole answer with its usage."""

    messages: str
    answer: Callable[[str, Used], JsonDict]


def _chat(text: str, used: Used) -> JsonDict:
    usage = {
        "prompt_tokens": used.cached + used.others,
        "completion_tokens": used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached},
    }
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _responses(text: str, used: Used) -> JsonDict:
    usage = {
        "input_tokens": used.cached + used.others,
        "output_tokens": used.output,
        "input_tokens_details": {"cached_tokens": used.cached},
    }
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {"object": "response", "status": "completed", "output": [item], "usage": usage}


def _anthropic(text: str, used: Used) -> JsonDict:
    usage = {
        "input_tokens": used.others,
        "cache_read_input_tokens": used.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": used.output,
    }
    content = [{"type": "text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", "usage": usage}


def _gemini(text: str, used: Used) -> JsonDict:
    usage = {
        "promptTokenCount": used.cached + used.others,
        "candidatesTokenCount": used.output,
        "cachedContentTokenCount": used.cached,
    }
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


CACHING_DIALECTS: Mapping[str, CachingDialect] = MappingProxyType(
    {
        "openai-chat": CachingDialect("messages", _chat),
        "openai-responses": CachingDialect("input", _responses),
        "anthropic": CachingDialect("messages", _anthropic),
        "gemini": CachingDialect("contents", _gemini),
    }
)


class CachingModel:
    """The model as a context. Each request gets the next of `texts`, the last one again and again.

    A request with more messages than `most` is refused with a status of 400.
    """

    def __init__(self, wire: str, *texts: str, most: int = 1_000) -> None:
        self.dialect = CACHING_DIALECTS[wire]
        self.bodies: list[JsonDict] = []
        self.used: list[Used] = []
        self.most = most
        self._texts = list(texts)
        self._known: list[list[bytes]] = []
        self._lock = Lock()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._root = "/v1" if wire.startswith("openai") else ""

    @property
    def base_url(self) -> str:
        """The address, with /v1 where the provider's has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self._root}"

    def read(self, messages: Sequence[JsonDict]) -> None:
        """The agent has the model answer a view: it is in the cache from now on."""
        self._known.append(list(map(_plain, messages)))

    def take(self, body: JsonDict) -> JsonDict | None:
        """The answer to a request; None if it is refused."""
        with self._lock:
            self.bodies.append(body)
            sent = list(map(_plain, body[self.dialect.messages]))
            if len(sent) > self.most:
                return None
            text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
            cached = sum(_tokens(sent[: _shared(known, sent)]) for known in self._known[-1:])
            self.used.append(Used(cached, _tokens(sent) - cached, count_text(text)))
            return self.dialect.answer(text, self.used[-1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _plain(message: JsonDict) -> bytes:
    """A message without marks, which are no part of what a cache compares."""
    content = message.get("content")
    if isinstance(content, list):
        blocks = [{name: value for name, value in block.items() if name != "cache_control"} for block in content]
        content = blocks[0]["text"] if len(blocks) == 1 and blocks[0].get("type") == "text" else blocks
        message = {**message, "content": content}
    return dumps(message)


def _shared(known: list[bytes], sent: list[bytes]) -> int:
    pairs = enumerate(zip(known, sent, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(known), len(sent)))


def _tokens(messages: Sequence[bytes]) -> int:
    return sum(count_text(dumps_text(loads(message))) for message in messages)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: CachingModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Nothing: tests read what was recorded."""

    def do_POST(self) -> None:
        answer = self.server.model.take(loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200 if answer else 400)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(dumps(answer or {"error": {"message": "it does not take these messages"}}))
