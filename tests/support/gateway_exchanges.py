"""Requests as Claude Code, Codex, OpenCode and pi make them, and answers of their providers, with much that is odd.

The same seed makes the same bytes. All texts are made up here.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, Final, NamedTuple

from tests.support.odd_json import a_number, written_oddly
from tests.support.processes.raw_http import Headers, written, written_in_chunks
from tests.support.transcripts import PNG

Json = dict[str, Any]

WORDS: Final = (
    "the parser reads each line before it counts",
    "src/engine/cut.py has a test that fails on Monday",
    "naïve café – “quotes”, 漢字, Ελληνικά, עברית",
    "👩‍👩‍👧 and e\u0301 are one character each",
    'a "quoted" \\ path, a tab\t, a bell \x07 and a line\u2028end',
    "half a pair: \ud83d",
    "nothing: \x00",
    "</script><!-- & &amp; %20 %zz",
    "  spaces at both ends  ",
    "never push to the branch main",
)
NAME: Final = b"x-exchange"
QUERIES: Final = (
    b"",
    b"",
    b"?beta=true",
    b"?beta=true&key=a%2Fb%7E+c",
    b"?a=1&a=2&&=;c",
    b"?x=[1]|{2}^`'",
    b'?q="<a>"',
    b"?q=%zz%",
    b"?next=https://example.org/?a=b",
)
ODD_HEADERS: Final[Headers] = [
    (b"x-empty", b""),
    (b"x-latin", b"caf\xe9"),
    (b"x-tabs", b"a\tb  c"),
    (b"x-long", b"v" * 2000),
    (b"x-twice", b"1"),
    (b"x-twice", b"2, 3"),
    (b"!#$%&'*+.^_`|~", b"name"),
    (b"x-json", b'{"a": "b", "c": [1.50]}'),
]
FAILURES: Final = (
    (429, b"Too Many Requests", {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}),
    (400, b"Bad Request", {"error": {"message": "Unknown parameter: 'x'.", "type": "invalid_request_error"}}),
    (529, b"", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    (500, b"Internal Server Error", {"error": None}),
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer. `request` and the joined `parts` are all bytes of these on the wire.

    `name` is in a header of the request. If it `is_closed`, the answer ends with its connection. `conversation` has the
    number of the conversation that Foldline understands; None if it understands none, or is off for this request.
    """

    name: bytes
    conversation: int | None
    request: bytes
    target: bytes
    headers: Headers
    body: bytes
    parts: list[bytes]
    status: int
    answer_headers: Headers
    answer: bytes
    is_closed: bool


class Said(NamedTuple):
    """An answer: what the agent keeps of it, its body, and the events of its stream by name."""

    kept: list[Json]
    body: Json
    events: list[tuple[str | None, Any]]


@dataclass
class Talk:
    """One conversation with one API."""

    random: Random
    number: int
    history: list[Json] = field(default_factory=list)
    calls: int = 0
    exchanges: int = 0

    def text(self) -> str:
        return "\n".join(self.random.choices(WORDS, k=self.random.randint(1, 5)))

    def call_id(self) -> str:
        self.calls += 1
        return f"call_{self.number}_{self.calls}"

    def odd(self) -> Json:
        """A field that no API has."""
        return {"x_future": self.random.choice([None, a_number(self.random), [a_number(self.random), {}], "/"])}

    def arguments(self) -> Json:
        return {"path": f"src/part_{self.calls}.py", "limit": a_number(self.random), "text": self.text()}


class Messages:
    """Claude Code."""

    paths: Final = (b"/v1/messages", b"/anthropic/v1/messages")
    messages: Final = "messages"

    @staticmethod
    def headers(talk: Talk) -> Headers:
        return [
            (b"x-api-key", b"sk-made-up"),
            (b"anthropic-version", b"2023-06-01"),
            (b"anthropic-beta", b"interleaved-thinking-2025-05-14,future-2027-01-01"),
            (b"x-claude-code-session-id", b"00000000-0000-4000-8000-%012d" % talk.number),
        ]

    @staticmethod
    def begin(talk: Talk) -> None:
        image = {"type": "base64", "media_type": "image/png", "data": PNG}
        blocks = [
            {"type": "text", "text": f"{talk.number} {talk.text()}"},
            {"type": "image", "source": image},
            {"type": "future_block", "payload": talk.odd()},
        ]
        talk.history += [{"role": "user", "content": blocks}, {"role": "system", "content": talk.text()}]

    @staticmethod
    def request(talk: Talk) -> Json:
        mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
        *before, last = talk.history
        if isinstance(last["content"], list):
            last = {**last, "content": [*last["content"][:-1], {**last["content"][-1], **mark}]}
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        return {
            "model": "nobody/nothing",
            "max_tokens": 64_000,
            "system": [{"type": "text", "text": WORDS[0], **mark}, {"type": "text", "text": WORDS[9], **mark}],
            "tools": [
                {"name": "Read", "description": WORDS[1], "input_schema": schema},
                {"type": "future_tool_20270101", "name": "future", **talk.odd()},
            ],
            "metadata": {"user_id": json.dumps({"session_id": talk.number})},
            "thinking": {"type": "adaptive"},
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            "output_config": {"effort": "high"},
            "temperature": a_number(talk.random),
            "messages": [*before, last],
        }

    @staticmethod
    def say(talk: Talk) -> Said:
        text, thought, arguments, call = talk.text(), talk.text(), talk.arguments(), talk.call_id()
        content: list[Json] = [
            {"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"},
            {"type": "text", "text": text},
            {"type": "tool_use", "id": call, "name": "Read", "input": arguments},
        ]
        result = [{"type": "text", "text": talk.text()}, {"type": "future_part", **talk.odd()}]
        results = [{"type": "tool_result", "tool_use_id": call, "content": result, "is_error": False}]
        kept: list[Json] = [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        body = {"id": f"msg_{call}", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use"}
        usage = {"input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": None, **talk.odd()}
        events: list[tuple[str, Json]] = [
            ("message_start", {"message": {**body, "content": [], "usage": usage}}),
            ("ping", {}),
        ]
        for index, (block, grown) in enumerate(zip(content, ("thinking", "text", None), strict=True)):
            delta: Json = (
                {"type": f"{grown}_delta", grown: block[grown]}
                if grown
                else {"type": "input_json_delta", "partial_json": written_oddly(arguments, talk.random).decode()}
            )
            start: Json = {**block, **({grown: ""} if grown else {"input": {}})}
            events += [
                ("content_block_start", {"index": index, "content_block": start}),
                ("content_block_delta", {"index": index, "delta": delta}),
                ("content_block_stop", {"index": index}),
            ]
        events += [("future_event", talk.odd()), ("message_delta", {"delta": {}, "usage": usage}), ("message_stop", {})]
        named = [(name, {"type": name, **event}) for name, event in events]
        return Said(kept, {**body, "content": content, "usage": usage, **talk.odd()}, [*named])


class Chat:
    """OpenCode and pi."""

    paths: Final = (b"/v1/chat/completions", b"/openai/v1/chat/completions")
    messages: Final = "messages"

    @staticmethod
    def headers(talk: Talk) -> Headers:
        return [(b"authorization", b"Bearer sk-made-up"), (b"x-session-id", b"chat-%d" % talk.number)]

    @staticmethod
    def begin(talk: Talk) -> None:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        parts = [{"type": "text", "text": f"{talk.number} {talk.text()}"}, picture, {"type": "future", **talk.odd()}]
        talk.history += [{"role": "user", "content": parts, **talk.odd()}]

    @staticmethod
    def request(talk: Talk) -> Json:
        function = {"name": "read", "description": WORDS[1], "parameters": {"type": "object", "properties": {}}}
        return {
            "model": "nobody/nothing",
            "messages": [{"role": "system", "content": WORDS[9]}, *talk.history],
            "tools": [{"type": "function", "function": function}, {"type": "custom", "custom": talk.odd()}],
            "max_completion_tokens": 32_000,
            "store": False,
            "stream_options": {"include_usage": True},
            "top_p": a_number(talk.random),
        }

    @staticmethod
    def say(talk: Talk) -> Said:
        call = talk.call_id()
        arguments = written_oddly(talk.arguments(), talk.random).decode()
        made = {"id": call, "type": "function", "function": {"name": "read", "arguments": arguments}}
        message: Json = {
            "role": "assistant",
            "content": talk.text(),
            "tool_calls": [made],
            "reasoning_content": talk.text(),
        }
        kept: list[Json] = [message, {"role": "tool", "tool_call_id": call, "content": talk.text(), **talk.odd()}]
        head = {"id": f"chatcmpl-{call}", "created": a_number(talk.random), "model": "m", **talk.odd()}
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
        half = len(arguments) // 2
        pieces = ({**made, "function": {"name": "read", "arguments": arguments[:half]}},)
        more = {"function": {"arguments": arguments[half:]}}
        deltas: list[Json] = [
            {"role": "assistant", "content": "", "reasoning_content": message["reasoning_content"]},
            {"content": message["content"]},
            {"tool_calls": [{"index": 0, **pieces[0]}]},
            {"tool_calls": [{"index": 0, **more}], "obfuscation": "x7"},
        ]
        chunks: list[Json] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
        chunks += [{"choices": [], "usage": usage}]
        events = [(None, {**head, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
        body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return Said(kept, body, [*events, (None, "[DONE]")])


class Responses:
    """Codex."""

    paths: Final = (b"/v1/responses", b"/openai/v1/responses")
    messages: Final = "input"

    @staticmethod
    def headers(talk: Talk) -> Headers:
        return [(b"authorization", b"Bearer sk-made-up"), (b"session_id", b"responses-%d" % talk.number)]

    @staticmethod
    def begin(talk: Talk) -> None:
        for role in ("developer", "user"):
            parts = [{"type": "input_text", "text": f"{talk.number} {talk.text()}"}]
            talk.history.append({"type": "message", "role": role, "content": parts})
        talk.history[-1]["content"].append({"type": "input_future", **talk.odd()})

    @staticmethod
    def request(talk: Talk) -> Json:
        return {
            "model": "nobody/nothing",
            "instructions": WORDS[9],
            "input": talk.history,
            "tools": [{"type": "function", "name": "shell", "parameters": {}, "strict": False}, {"type": "future"}],
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "reasoning": {"effort": "medium", "summary": "auto"},
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": f"responses-{talk.number}",
            "client_metadata": talk.odd(),
        }

    @staticmethod
    def say(talk: Talk) -> Said:
        call = talk.call_id()
        arguments = written_oddly(talk.arguments(), talk.random).decode()
        thought = {"type": "reasoning", "id": f"rs_{call}", "summary": [], "encrypted_content": "Z0FBQUFB" * 20}
        made = {"type": "function_call", "call_id": call, "name": "shell", "arguments": arguments}
        output = [thought, {**made, "id": f"fc_{call}", "status": "completed"}]
        kept: list[Json] = [thought, made, {"type": "function_call_output", "call_id": call, "output": talk.text()}]
        usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12, **talk.odd()}
        body = {"id": f"resp_{call}", "object": "response", "created_at": a_number(talk.random), "model": "m"}
        body |= {"status": "completed", "output": output, "usage": usage}
        events: list[tuple[str, Json]] = [("response.created", {"response": {**body, "output": []}})]
        for index, item in enumerate(output):
            events += [
                ("response.output_item.added", {"output_index": index, "item": item}),
                ("response.future.delta", talk.odd()),
                ("response.output_item.done", {"output_index": index, "item": item}),
            ]
        events += [("response.completed", {"response": body})]
        return Said(kept, body, [(name, {"type": name, **event}) for name, event in events])


Api = type[Messages] | type[Chat] | type[Responses]
APIS: Final[tuple[Api, ...]] = (Messages, Chat, Responses)


def conversations(seed: int, number: int, turns: int) -> Iterator[list[Exchange]]:
    """So many conversations, each with so many exchanges in order."""
    for at in range(number):
        random = Random(f"{seed} {at}")
        talk = Talk(random, at)
        yield [*_conversation(talk, APIS[at % len(APIS)], turns)]


def _conversation(talk: Talk, api: Api, turns: int) -> Iterator[Exchange]:
    random = talk.random
    api.begin(talk)
    for turn in range(turns):
        body = written_oddly({**api.request(talk), "stream": turn % 2 == 0, **talk.odd()}, random)
        target = random.choice(api.paths) + random.choice(QUERIES)
        kind = random.random()
        if kind < 0.05:
            yield _exchange(talk, api, target, _spoilt(api, talk, body), _failure(random), is_understood=False)
        elif kind < 0.1:
            elsewhere = random.choice(
                (b"/v1/messages/count_tokens", b"/openai/v1/embeddings", b"/anthropic/v1/x/../a%2Fb")
            )
            yield _exchange(talk, api, elsewhere, random.randbytes(300), _failure(random), is_understood=False)
        elif kind < 0.2:
            yield _exchange(talk, api, target, body, _failure(random))
        else:
            said = api.say(talk)
            answer = _streamed(said, random) if turn % 2 == 0 else _at_once(said, random)
            yield _exchange(talk, api, target, body, answer, is_off=kind < 0.5)
            talk.history += said.kept


def _spoilt(api: Api, talk: Talk, body: bytes) -> bytes:
    """A body of which no conversation can be read."""
    known = api.request(talk)
    deep: list[Any] = []
    for _ in range(250):
        deep = [deep]
    return talk.random.choice(
        (
            body.rstrip()[:-1],
            body + b"}",
            b"\xff\xfe" + body,
            b'{"model": "m", "temperature": NaN, "messages": [], "input": []}',
            gzip.compress(body, mtime=0),
            json.dumps({"model": "m", api.messages: "Hello."}).encode(),
            json.dumps({"model": "m", api.messages: [{"role": "robot", "content": deep}]}).encode(),
            written_oddly({**known, api.messages: [*known[api.messages], 7]}, talk.random),
        )
    )


class _Answer(NamedTuple):
    status: int
    reason: bytes
    headers: Headers
    body: bytes


def _failure(random: Random) -> _Answer:
    status, reason, body = random.choice(FAILURES)
    headers: Headers = [(b"content-type", b"application/json"), (b"retry-after", b"7"), (b"request-id", b"req_1")]
    return _Answer(status, reason, headers, written_oddly(body, random))


def _at_once(said: Said, random: Random) -> _Answer:
    headers: Headers = [(b"content-type", b"application/json; charset=utf-8"), *ODD_HEADERS]
    return _Answer(200, b"OK", headers, written_oddly(said.body, random))


def _streamed(said: Said, random: Random) -> _Answer:
    end = random.choice((b"\n", b"\n", b"\r\n"))
    lines: list[bytes] = [b": a comment", b""]
    for name, event in said.events:
        data = event.encode() if isinstance(event, str) else _on_one_line(event, random)
        lines += [*([] if name is None else [b"event: " + name.encode()]), b"data: " + data, b""]
    headers: Headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache"), *ODD_HEADERS]
    return _Answer(200, b"OK", headers, end.join([*lines, b""]))


def _on_one_line(event: Mapping[str, Any], random: Random) -> bytes:
    return written_oddly(event, random).replace(b"\r", b" ").replace(b"\n", b" ")


def _exchange(
    talk: Talk,
    api: Api,
    target: bytes,
    body: bytes,
    answer: _Answer,
    *,
    is_understood: bool = True,
    is_off: bool = False,
) -> Exchange:
    random = talk.random
    talk.exchanges += 1
    name = b"%d-%d" % (talk.number, talk.exchanges)
    encoding = random.choice((b"gzip, deflate, br, zstd", b"gzip;q=1.0, identity", b"identity", b"br"))
    headers: Headers = [
        *api.headers(talk),
        *random.sample(ODD_HEADERS, k=3),
        (b"content-type", b"application/json"),
        (b"accept-encoding", encoding),
        (NAME, name),
        *([(b"x-foldline", b"off")] if is_off else []),
    ]
    raw, answer_headers = answer.body, answer.headers
    if b"gzip" in encoding and random.random() < 0.5:
        raw, answer_headers = gzip.compress(raw, mtime=0), [*answer_headers, (b"content-encoding", b"gzip")]
    first = b"HTTP/1.1 %d %s" % (answer.status, answer.reason)
    framing = random.random()
    if framing < 0.05:
        parts = [written(first, answer_headers, raw).replace(b"Content-Length: %d\r\n" % len(raw), b""), b""]
    elif framing < 0.5:
        parts = [written(first, answer_headers, raw)]
    else:
        parts = written_in_chunks(first, answer_headers, _cut(raw, random))
    request = written(b"POST %s HTTP/1.1" % target, [(b"Host", b"127.0.0.1"), *headers], body)
    return Exchange(
        name,
        talk.number if is_understood and not is_off else None,
        request,
        target,
        headers,
        body,
        parts,
        answer.status,
        answer_headers,
        raw,
        is_closed=framing < 0.05,
    )


def _cut(raw: bytes, random: Random) -> list[bytes]:
    """The bytes in pieces, wherever these end."""
    places = sorted({0, len(raw), *(random.randrange(len(raw) + 1) for _ in range(random.randint(0, 9)))})
    return [raw[start:end] for start, end in pairwise(places)]
