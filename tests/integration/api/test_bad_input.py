"""What bad input gets: a problem that says what is wrong and where, and nothing half-written; or it is taken as is."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from foldline.engine.arguments import ARGUMENTS_DEPTH_MAX
from foldline.engine.formats import rules
from foldline.engine.wire import dumps, loads
from tests.support.processes.api import SMALL_WINDOW, Api, Json, assistant, calling, problem_of, result, user
from tests.support.processes.http import client

NEW: Json = {"model": "nobody/nothing", "context_window": SMALL_WINDOW}
# What the body of a route needs beside what a test is about.
NEEDED: dict[str, Json] = {"/sessions": NEW, "/compact": {**NEW, "messages": []}}
LIMIT = 24 * 1024 * 1024


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b'{"messages": [}', 14),
        (b'{"messages": []', 15),
        (b"hello", 0),
        # Blank to Python, and not to JSON.
        (b"\x0b", 0),
        (b'{"messages": [NaN]}', None),
        (b'{"messages": [{"role": "user", "content": -Infinity}]}', None),
        (b'{"messages": "\xff"}', 14),
        (b'{"messages": [' + b"1" * 5000 + b"]}", None),
    ],
)
def test_malformed_json_is_refused_with_its_place(api: Api, body: bytes, position: int | None) -> None:
    session = api.session()
    problem = problem_of(api.client.post(f"{session}/messages", content=body))
    assert (problem["name"], problem["status"], problem.get("position")) == ("malformed-json", 400, position)
    assert api.get(session)["version"] == 1


# The arguments can be cut, or only be hidden with their call, which a summary is then pending for.
@pytest.mark.parametrize(
    ("levels", "status"), [(ARGUMENTS_DEPTH_MAX, 200), (ARGUMENTS_DEPTH_MAX + 1, 202), (5000, 202)]
)
def test_arguments_may_be_nested_as_deep_as_they_like(api: Api, levels: int, status: int) -> None:
    session = api.session(context_window=64_000)
    arguments = '{"a":' * levels + f'"{"so it goes on " * 200}"' + "}" * levels
    called = {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}}
    api.say(session, user("look"), {"role": "assistant", "content": None, "tool_calls": [called]}, result("c"))
    api.say(session, assistant("seen"))

    def check_views() -> None:
        for name in rules.CHECKS:
            view = api.get(f"{session}/context?format={name}")
            assert rules.check(name, view["messages"], view["system"]) == []
            api.say(api.session(context_window=64_000), *view["messages"], format=name)

    check_views()
    api.post(f"{session}/compact", {"target_tokens": 900, "summarize": False}, status)
    check_views()


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "body"),
        ("hello", "body"),
        ({}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": ["hello"]}, "messages[0]"),
        ({"messages": [user("ok"), {"role": "wizard", "content": "x"}]}, "messages[1].role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].id"),
        ({"messages": [], "format": "telegram"}, "format"),
        ({"messages": [], "format": []}, "format"),
        ({"messages": [], "parent": 3}, "parent"),
        ({"messages": [], "mesages": []}, "mesages"),
        ({"messages": [], "usage": {}}, "usage.version"),
        ({"messages": [], "usage": {"version": "1", "input": 1}}, "usage.version"),
        ({"messages": [], "usage": {"version": 1, "input": -1}}, "usage.input"),
        ({"messages": [], "usage": {"version": 1, "input": 10**30}}, "usage.input"),
        ({"messages": [], "usage": {"version": True, "input": 1}}, "usage.version"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(api: Api, body: Any, path: str) -> None:
    session = api.session()
    problem = api.problem("POST", f"{session}/messages", body)
    assert (problem["name"], problem["status"], problem["path"]) == ("invalid-request", 422, path)
    assert api.get(session)["version"] == 1


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"model": ""}, "model"),
        ({"model": 5}, "model"),
        ({"model": "a/b\x00"}, "model"),
        ({"id": "a/b"}, "id"),
        ({"id": ""}, "id"),
        ({"id": "é"}, "id"),
        ({"context_window": "many"}, "context_window"),
        ({"context_window": 0}, "context_window"),
        ({"context_window": True}, "context_window"),
        ({"context_window": 10**30}, "context_window"),
        ({"context_window": "999999m"}, "context_window"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"max_output_tokens": SMALL_WINDOW}, "max_output_tokens"),
        ({"system": ["no"]}, "system"),
        ({"tools": {}}, "tools"),
        ({"tools": [{}, 3]}, "tools[1]"),
        ({"policy": "pi"}, "policy"),
        ({"policy": {"preset": "unheard-of"}}, "policy.preset"),
        ({"policy": {"preset": []}}, "policy.preset"),
        ({"policy": {"trigger": "high"}}, "policy.trigger"),
        ({"policy": {"target": 0.9}}, "policy.target"),
        ({"policy": {"colour": 1}}, "policy.colour"),
        ({"policy": {"stages": 3}}, "policy.stages"),
        ({"policy": {"stages": ["prune", "shred"]}}, "policy.stages[1]"),
        ({"policy": {"stages": [{"name": ["prune"]}]}}, "policy.stages[0]"),
        ({"policy": {"stages": [{"name": "prune", "minimum_tokens": -1}]}}, "policy.stages[0].minimum_tokens"),
        ({"auto_compact": "yes"}, "auto_compact"),
    ],
)
def test_a_session_that_cannot_be_is_refused_with_the_path(api: Api, fields: dict[str, Any], path: str) -> None:
    problem = api.problem("POST", "/sessions", {**NEW, **fields})
    assert (problem["name"], problem["path"]) == ("invalid-request", path)


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/sessions"), ("PATCH", "{session}"), ("POST", "{session}/compact"), ("POST", "/compact")],
)
@pytest.mark.parametrize(
    ("policy", "field", "reported"),
    [
        ({"preset": "unheard-of"}, "preset", "codebuddy@program"),
        ({"preset": None}, "preset", "available: foldline"),
        ({"trigger": 0}, "trigger", "above 0 to 1, not 0"),
        ({"trigger": None}, "trigger", "above 0 to 1, not null"),
        ({"trigger": 85_000}, "trigger", "above 0 to 1, not 85000"),
        ({"target": 0.8}, "target", "below the trigger 0.8"),
        ({"preset": "agent-code", "trigger": 0.4}, "target", "below the trigger 0.4"),
        (
            {"preset": "codebuddy", "trigger": 0.95},
            "trigger",
            "0.95 of 2000 tokens is 1900, and views have at most 1800",
        ),
        (
            {"preset": "codebuddy", "reserve_tokens": 800, "target": 0.7},
            "target",
            "is 1400, and views have at most 1160",
        ),
        ({"preset": "pi", "trigger": 0.99}, "trigger", "0.99 of 1000 tokens is 990, and views have at most 960"),
        ({"preset": "agent-code@program", "trigger": 0.7}, "target", "above the trigger 0.7, but is 1.0"),
        ({"buffer_tokens": -1}, "buffer_tokens", "must be an integer of 0 or more"),
        ({"buffer_tokens": "13k"}, "buffer_tokens", "must be an integer of 0 or more"),
        ({"buffer_tokens": 1260}, "buffer_tokens", "leaves nothing of the 1260"),
        ({"buffer_tokens": 10**30}, "buffer_tokens", "of a size that a context window can have"),
        ({"counter": "abacus"}, "counter", "exact, neurolink, agent-code, codebuddy"),
        ({"counter": ["exact"]}, "counter", "exact, neurolink, agent-code, codebuddy"),
        ({"layout": "spacious"}, "layout", "agent-code@program"),
        ({"registry": "nobody"}, "registry", "foldline, neurolink"),
        ({"transcript": "verse"}, "transcript", "available: foldline"),
        ({"headings": "loud"}, "headings", "available: foldline"),
        ({"summarizer": "an oracle"}, "summarizer", "must be service, provider, or names of summarizers"),
        ({"report": "tier"}, "report", "must be a list of at most 100 names, each once"),
        ({"report": ["tier", "mood"]}, "report", "'mood' is no figure; available: original_count"),
        (
            {"oracle": True},
            "oracle",
            "is no field of a policy; available: awaits_change, branch_reserve_tokens",
        ),
        ({"is_loose": True}, "is_loose", "is no field of a policy"),
        ({"stages": ["prune", "shred"]}, "stages[1]", "available: deduplicate, prune, microcompact"),
        ({"stages": [{"name": "prune", "depth": 3}]}, "stages[0].depth", "keep_recent_tokens"),
        ({"stages": [{"name": "truncate", "fraction": 1.5}]}, "stages[0].fraction", "share from 0 to 1, not 1.5"),
        ({"stages": [{"name": "truncate", "keep_first": -2}]}, "stages[0].keep_first", "integer of 0 or more"),
        ({"stages": [{"name": "strip", "keep_messages": 1.5}]}, "stages[0].keep_messages", "integer of 0 or more"),
        ({"stages": [{"name": "microcompact", "tools": "Bash"}]}, "stages[0].tools", "must be a list of at most"),
        ({"stages": [{"name": "summarize", "adapts_chunks": 1}]}, "stages[0].adapts_chunks", "true or false"),
    ],
)
def test_a_policy_that_cannot_work_is_refused_wherever_it_is_given(
    api: Api, method: str, path: str, *, policy: Json, field: str, reported: str
) -> None:
    session = api.session()
    problem = api.problem(method, path.format(session=session), {**NEEDED.get(path, {}), "policy": policy})
    assert (problem["name"], problem["status"], problem["path"]) == ("invalid-request", 422, f"policy.{field}")
    assert reported in problem["detail"]
    assert api.get(session)["version"] == 1


@pytest.mark.parametrize(("method", "path"), [("POST", "/sessions"), ("PATCH", "{session}"), ("POST", "/compact")])
@pytest.mark.parametrize("max_output_tokens", [SMALL_WINDOW - 1, SMALL_WINDOW, 10 * SMALL_WINDOW])
def test_a_reserve_that_leaves_nothing_of_the_window_is_refused(
    api: Api, method: str, path: str, max_output_tokens: int
) -> None:
    session = api.session()
    given = {**NEEDED.get(path, {}), "max_output_tokens": max_output_tokens}
    problem = api.problem(method, path.format(session=session), given)
    assert (problem["name"], problem["path"]) == ("invalid-request", "max_output_tokens")
    assert f"{max_output_tokens} leaves nothing of a context window of {SMALL_WINDOW} tokens" in problem["detail"]


def test_a_presets_own_buffer_gives_way_to_a_small_window(api: Api) -> None:
    session = api.session(policy={"preset": "agent-code"})
    api.fill(session)
    assert api.get(f"{session}/context")["budget"]["fits"]


@pytest.mark.parametrize(
    "body",
    [{}, {"text": "a", "entry_id": "e0-1"}, {"text": 5}, {"text": "a", "colour": "red"}, {"text": ""}, {"text": " "}],
)
def test_a_pin_is_a_text_that_says_something_or_an_entry(api: Api, body: dict[str, Any]) -> None:
    assert api.problem("POST", f"{api.session()}/pins", body)["name"] == "invalid-request"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions/none"),
        ("GET", "/sessions/no%00ne"),
        ("GET", "/jobs/%00"),
        ("GET", "/sessions/none/context"),
        ("POST", "/sessions/none/messages"),
        ("POST", "/sessions/none/compact"),
        ("GET", "/sessions/none/entries"),
        ("GET", "/jobs/none"),
        ("DELETE", "/jobs/none"),
        ("GET", "/jobs/none/events"),
        ("GET", "{session}/entries/e0-1"),
        ("GET", "{session}/entries/e0-99999999999999999"),
        ("GET", "{session}/entries/none"),
        ("GET", "{session}/entries/e\u0663-1"),
        ("POST", "{session}/compactions/e0-1/undo"),
        ("DELETE", "{session}/pins/none"),
        ("GET", "/nowhere"),
        ("GET", "/sessions/"),
    ],
)
def test_what_is_not_there_is_not_found(api: Api, method: str, path: str) -> None:
    body: Json | None = {"messages": []} if path.endswith("/messages") else None
    problem = api.problem(method, path.format(session=api.session()), body)
    assert (problem["name"], problem["status"]) == ("not-found", 404)


@pytest.mark.parametrize(("path", "allowed"), [("/sessions", "GET, POST"), ("/sessions/s1", "DELETE, GET, PATCH")])
def test_a_method_that_a_path_does_not_have_is_refused_with_those_it_has(api: Api, path: str, allowed: str) -> None:
    answer = api.client.put(path)
    problem = problem_of(answer)
    assert (problem["name"], answer.status_code) == ("method-not-allowed", 405)
    assert answer.headers["allow"] == allowed
    assert problem["detail"] == f"{path} does not take PUT; it takes {allowed}"


@pytest.mark.parametrize(
    ("method", "path", "name", "taken"),
    [
        ("GET", "?colour=red", "query.colour", "takes none"),
        ("GET", "/context?fit=none&colour=red", "query.colour", "takes fit, format, model, open"),
        ("POST", "/messages?format=openai", "query.format", "takes none"),
    ],
)
def test_a_query_parameter_that_a_route_does_not_take_is_refused(
    api: Api, method: str, path: str, name: str, taken: str
) -> None:
    problem = api.problem(method, f"{api.session()}{path}", {} if method == "POST" else None)
    assert (problem["name"], problem["path"]) == ("invalid-request", name)
    assert taken in problem["detail"]


def test_usage_of_a_version_to_come_is_refused(api: Api) -> None:
    session = api.session()
    body = {"messages": [user("hello")], "usage": {"version": 2, "input": 10}}
    problem = api.problem("POST", f"{session}/messages", body)
    assert (problem["name"], problem["path"]) == ("invalid-request", "usage.version")
    assert api.get(session)["message_count"] == 0


@pytest.mark.parametrize(
    ("path", "body", "field", "detail"),
    [
        ("", {"policy": "neurolink"}, "policy", 'as in {"preset": "neurolink"}'),
        ("", {"policy": 3}, "policy", 'as in {"preset": "foldline"}'),
        ("", {"policy": {"target": 0.85}}, "policy.target", "where only one is changed, give both"),
        (
            "/compact",
            {"stages": ["prune", {"name": "prune"}]},
            "stages[1]",
            "a stage's name; parameters go into policy.stages",
        ),
        (
            "/compact",
            {"policy": {"stages": [{"protect_tokens": 10}]}},
            "policy.stages[0]",
            "must have the `name` of a stage; available: deduplicate, prune,",
        ),
        (
            "/compact",
            {"policy": {"stages": [{"name": "strip", "depth": 1}]}},
            "policy.stages[0].depth",
            "strip takes keep_messages, longer_than_chars",
        ),
        (
            "/compact",
            {"policy": {"stages": [{"name": "collapse", "depth": 1}]}},
            "policy.stages[0].depth",
            "collapse takes no parameters",
        ),
    ],
)
def test_a_policy_of_the_wrong_shape_is_refused_with_an_example(
    api: Api, path: str, body: Json, field: str, detail: str
) -> None:
    problem = api.problem("POST" if path else "PATCH", f"{api.session()}{path}", body)
    assert problem["path"] == field
    assert detail in problem["detail"]


def test_an_overflow_of_an_empty_session_has_nothing_to_make_smaller(api: Api) -> None:
    problem = api.problem("POST", f"{api.session()}/overflow", {"error": "prompt is too long", "version": 1})
    assert problem["name"] == "cannot-shrink"
    assert problem["detail"] == "there is nothing in the session that could be made smaller"


def test_a_value_is_refused_with_what_it_must_be(api: Api) -> None:
    session = api.session()
    details = [
        api.problem("POST", f"{session}/messages", [])["detail"],
        api.problem("PATCH", session, {}, If_Match="new")["detail"],
        api.problem("GET", f"{session}/entries?cursor=-")["detail"],
        api.problem("POST", f"{session}/compact", {}, Idempotency_Key="")["detail"],
    ]
    assert [detail.partition(": ")[2].split()[0] for detail in details] == ["must"] * 4


def test_a_problems_title_is_its_name_as_people_write_it(api: Api) -> None:
    assert problem_of(api.client.post("/sessions", content=b"{"))["title"] == "Malformed JSON"
    assert api.problem("GET", "/sessions/none")["title"] == "Not found"


def test_calls_that_wait_are_counted_in_words(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"), calling("c1", "c2"))
    assert "2 tool calls wait for their results: append them" in api.problem("GET", f"{session}/context")["detail"]
    api.say(session, result("c1"))
    assert "1 tool call waits for its result: append it" in api.problem("GET", f"{session}/context")["detail"]


def test_a_body_announced_as_too_large_is_refused_before_it_is_sent(api: Api) -> None:
    session = api.session()
    connection = HTTPConnection(api.client.base_url.host, api.client.base_url.port)
    connection.putrequest("POST", f"{session}/messages")
    connection.putheader("Content-Length", str(LIMIT + 1))
    connection.endheaders()
    answer = connection.getresponse()
    problem = loads(answer.read())
    connection.close()
    assert (answer.status, problem["type"], problem["limit_bytes"]) == (413, "/problems/body-too-large", LIMIT)
    assert api.get(session)["version"] == 1


def test_a_body_that_turns_out_too_large_is_refused_on_the_way(api: Api) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"messages": ["'
        for _ in range(LIMIT // 65536 + 1):
            yield b"x" * 65536

    session = api.session()
    with client(api.client.base_url) as fresh:
        problem = problem_of(fresh.post(f"{session}/messages", content=chunks()))
    assert (problem["name"], problem["status"]) == ("body-too-large", 413)
    assert api.get(session)["version"] == 1


def test_a_deep_body_is_refused(api: Api) -> None:
    session = api.session()
    for depth in (201, 900, 5_000, 200_000):
        body = b'{"messages": ' + b"[" * depth + b"]" * depth + b"}"
        problem = problem_of(api.client.post(f"{session}/messages", content=body))
        assert (problem["name"], problem["path"]) == ("invalid-request", "body")


def test_a_body_as_deep_as_allowed_can_be_read_back(api: Api) -> None:
    session = api.session()
    part: Any = "bottom"
    for _ in range(190):
        part = {"in": part}
    message = {"role": "user", "content": [{"type": "riddle", "riddle": part}]}
    api.say(session, message)
    assert api.get(f"{session}/context?fit=none")["messages"] == [message]
    assert api.get(f"{session}/entries")["items"][0]["message"] == message


def test_orphan_late_and_duplicate_results_are_kept_and_views_stay_valid(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"), result("never-called", "orphan"))
    api.say(session, calling("c1", "c2"), result("c1", "first"), result("c1", "again"))
    api.say(session, user("never mind"), result("c2", "late"))
    for format_name in ("openai", "anthropic"):
        view = api.get(f"{session}/context?format={format_name}")
        assert rules.check(format_name, view["messages"], view["system"]) == []
        said = dumps(view["messages"]).decode()
        assert all(text in said for text in ("orphan", "first", "again", "late"))
    assert len(api.get(f"{session}/entries")["items"]) == 7


def test_a_hundred_parallel_calls_are_answered_in_any_order(api: Api) -> None:
    session = api.session(context_window=20_000)
    names = [f"call-{number}" for number in range(100)]
    assert api.say(session, user("hello"), calling(*names))["open_calls"] == names
    answer = api.say(session, *(result(name) for name in reversed(names)))
    assert answer["open_calls"] == []
    for format_name in ("openai", "anthropic"):
        view = api.get(f"{session}/context?format={format_name}")
        assert rules.check(format_name, view["messages"], view["system"]) == []


@pytest.mark.parametrize(
    "message",
    [
        user(""),
        assistant(""),
        {"role": "assistant", "content": None},
        user("a\x00b"),
        user(" " * 1_000_000),
        {"role": "user", "content": [{"type": "riddle", "riddle": {"a": [1.5, None, True]}}]},
        {"role": "user", "content": "x", "colour": "red"},
    ],
)
def test_unusual_content_is_kept_as_it_came(api: Api, message: dict[str, Any]) -> None:
    session = api.session(context_window="2m")
    api.say(session, user("first"), message, user("last"))
    assert api.get(f"{session}/context?fit=none")["messages"] == [user("first"), message, user("last")]
    assert api.get(f"{session}/entries")["items"][1]["message"] == message


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_content_of_no_parts_is_kept_and_read_as_empty_text(api: Api, role: str) -> None:
    session = api.session()
    api.say(session, user("first"), {"role": role, "content": []}, user("last"))
    assert api.get(f"{session}/entries")["items"][1]["message"] == {"role": role, "content": []}
    view = api.get(f"{session}/context?fit=none")
    assert view["messages"] == [user("first"), {"role": role, "content": ""}, user("last")]


def test_lone_surrogates_are_kept_and_escaped(api: Api) -> None:
    session = api.session()
    raw = b'{"messages":[{"role":"user","content":"a\\ud800b"},{"role":"assistant","content":"\\udfff"}]}'
    assert api.client.post(f"{session}/messages", content=raw).status_code == 201
    answer = api.client.get(f"{session}/context")
    assert b"a\\ud800b" in answer.content
    assert loads(answer.content)["messages"] == loads(raw)["messages"]
    assert api.client.get(f"{session}/context?format=anthropic").status_code == 200
    assert b"\\udfff" in api.client.get(f"{session}/entries").content


def test_lone_surrogates_are_taken_wherever_people_write(api: Api) -> None:
    session = api.session()
    pinned = api.client.post(f"{session}/pins", content=b'{"text": "keep \\ud800"}')
    assert (pinned.status_code, pinned.json()["text"]) == (201, "keep \ud800")
    assert b"keep \\ud800" in api.client.get(f"{session}/context").content
    assert api.client.post(f"{session}/compact", content=b'{"instructions": "\\ud800"}').status_code == 200
    assert api.client.post(f"{session}/budget", content=b'{"prompt": "\\ud800"}').status_code == 200
    for path in (b"sessions", b"sessions/\\ud800"):
        refused = api.client.post("/sessions", content=b'{"model": "a/\\ud800", "id": "%s"}' % path)
        assert problem_of(refused)["name"] == "invalid-request"
    problem = problem_of(api.client.post(f"{session}/messages", content=b'{"messages": [], "parent": "\\ud800"}'))
    assert problem["name"] == "unknown-parent"


def test_a_message_of_ten_megabytes_is_taken(api: Api) -> None:
    session = api.session(context_window=16_000)
    log = "".join(f"{number}: the quick brown fox jumps over the lazy dog\n" for number in range(210_000))
    assert len(log) > 10_000_000
    answer = api.say(session, user("read it"), calling("c1"), result("c1", log))
    assert answer["budget"]["fits"]
    assert len(dumps(api.get(f"{session}/context"))) < 200_000
    kept = api.get(f"{session}/entries/{answer['entry_ids'][2]}")
    assert kept["message"]["content"] == log


@pytest.mark.parametrize(
    "part",
    [
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{base64.b64encode(b'image' * 50_000).decode()}"},
        },
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"image" * 9).decode()},
        },
    ],
)
def test_images_cost_a_flat_price_and_cross_formats(api: Api, part: dict[str, Any]) -> None:
    session = api.session(context_window=16_000)
    answer = api.say(session, {"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]})
    assert answer["budget"]["used"] < 2000
    for format_name in ("openai", "anthropic"):
        view = api.get(f"{session}/context?format={format_name}")
        assert rules.check(format_name, view["messages"], view["system"]) == []
        assert (view["lossy"], len(view["messages"][0]["content"])) == (0, 2)
