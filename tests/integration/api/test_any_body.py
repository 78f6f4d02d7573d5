"""Whatever a client sends, the service answers with a result or a problem, never with a mistake of its own."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.formats import FORMATS
from foldline.engine.wire import dumps
from tests.support.processes.api import (
    Api,
    assistant,
    calling,
    documented_bodies,
    documented_routes,
    problem_of,
    result,
    user,
)
from tests.support.processes.databases import each_kind

# Whatever is in a body has to go into the columns of each.
database_kind = each_kind

ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "model", ""])
KINDS = st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "image_url", "input_audio", "riddle"])
FIELDS = st.sampled_from(
    sorted({name for model in documented_bodies() for name in model.model_fields} | {
        "role", "content", "type", "name", "arguments", "function", "tool_calls", "tool_call_id", "tool_use_id",
        "parts", "functionCall", "functionResponse", "args", "response", "inlineData", "thought", "thoughtSignature",
        "source", "image_url", "url", "data", "media_type", "preset", "trigger", "target", "signature", "is_error",
    })
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8)
    | st.text(st.characters(categories=["Cs"]), max_size=2)
    | st.sampled_from([*FORMATS, "foldline", "prune", "openai/gpt-4o", "128k", "e0-1", "c1"])
    | ROLES
    | KINDS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | st.text(max_size=3), inner, max_size=5),
    max_leaves=12,
)
WELL_FORMED = st.sampled_from([user("hello"), assistant("hi"), calling("c1", "c1", "c2"), result("c1"), result("c9")])
PART_FIELDS = ("text", "id", "input", "content", "tool_use_id", "source", "image_url", "thinking")
CONTENT = st.lists(st.fixed_dictionaries({"type": KINDS}, optional=dict.fromkeys(PART_FIELDS, VALUES)), max_size=3)
MESSAGES = st.lists(
    WELL_FORMED
    | st.fixed_dictionaries(
        {"role": ROLES, "content": CONTENT | VALUES},
        optional={"tool_calls": VALUES, "tool_call_id": VALUES, "name": VALUES},
    ),
    max_size=5,
)
BODIES = (
    VALUES
    | st.dictionaries(FIELDS, VALUES, max_size=4)
    | st.fixed_dictionaries(
        {"messages": MESSAGES},
        optional={"format": VALUES, "usage": VALUES, "model": st.just("openai/gpt-4"), "summarize": st.booleans()},
    )
)
WRITES = [(method, route.path) for method, route in documented_routes() if method in {"POST", "PATCH"}]


@given(st.sampled_from(WRITES), BODIES)
def test_every_body_gets_an_answer(api: Api, route: tuple[str, str], body: Any) -> None:
    method, path = route
    session = api.session(context_window=4000)
    api.say(session, user("hello"), calling("c1"), result("c1"))
    filled = path.format(session_id=session.removeprefix("/sessions/"), compaction_id="e0-1", item_id="e0-1.1")
    answer = api.client.request(method, filled, content=dumps(body))
    _check(answer)
    for reading in (
        "context?open=stub",
        "context?fit=none&format=anthropic",
        "context?format=native&open=stub",
        "stats",
    ):
        _check(api.client.get(f"{session}/{reading}"))


@given(st.binary(max_size=40))
def test_every_string_of_bytes_gets_an_answer(api: Api, body: bytes) -> None:
    _check(api.client.post("/sessions", content=body))


@given(st.sampled_from([route.path for method, route in documented_routes() if method == "GET"]), st.text(max_size=6))
def test_every_query_gets_an_answer(api: Api, path: str, text: str) -> None:
    names = ("cursor", "limit", "format", "model", "fit", "open", "max_output_tokens", "preset")
    part = quote(text, safe="").replace(".", "%2E") or "x"
    filled = path.format(session_id="none", entry_id=part, job_id=part, compaction_id=part)
    _check(api.client.get(filled, params=dict.fromkeys(names, text)))


def _check(answer: httpx.Response) -> None:
    assert answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR, answer.text[:500]
    if answer.status_code >= httpx.codes.BAD_REQUEST:
        problem_of(answer)
