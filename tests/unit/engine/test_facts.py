import json

import pytest

from foldline.engine.facts import (
    Call,
    Details,
    Facts,
    call_from_json,
    call_to_json,
    facts_of,
    facts_on_demand,
    files_of,
    from_json,
    is_empty,
    to_json,
)
from foldline.engine.files import Files, Read
from foldline.engine.images.in_messages import ImageSize
from foldline.engine.messages import Image, Message, Other, Part, Text, Thinking, ToolCall, ToolResult, user
from foldline.engine.tokens.counter import IMAGE, MESSAGE, RESULT, count_message, count_text
from foldline.engine.tokens.excerpts import LEVELS, excerpt
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import placeholder_tokens
from tests.support.conversations import answer, assistant, read_call
from tests.support.pictures import picture


def test_a_plain_message_is_known_by_role_and_tokens() -> None:
    message = user("Fold it.")
    assert facts_of(message) == Facts("user", count_message(message), details=Details(chars=8, sizes=(2, 2, 3, 2)))


def test_calls_are_known_by_id_and_by_what_they_read() -> None:
    facts = facts_of(assistant("", read_call("c1", "a.py"), ToolCall("c2", "ls", "{}")))
    assert [call.known()._replace(placeholders=()) for call in facts.calls] == [
        Call("c1", Read("a.py"), "read_file"),
        Call("c2", tool="ls"),
    ]
    assert [call.placeholders for call in facts.calls] == [
        placeholder_tokens("read_file", "a.py"),
        placeholder_tokens("ls"),
    ]


def test_calls_are_known_by_what_they_change() -> None:
    facts = facts_of(assistant("", ToolCall("c1", "edit", '{"path": "a.py"}'), read_call("c2", "b.py")))
    assert [call.changes for call in facts.calls] == ["a.py", ""]
    assert files_of(facts.calls) == Files(frozenset({"b.py"}), frozenset({"a.py"}))


SEALED = Other("redacted_thinking", {"type": "redacted_thinking", "data": "x"})


@pytest.mark.parametrize("parts", [(), (Text(""),), (Thinking("hm", "s"),), (SEALED,), (Thinking("hm"), Text(""))])
def test_an_assistant_message_of_reasoning_alone_takes_no_tokens(parts: tuple[Part, ...]) -> None:
    message = Message("assistant", parts)
    assert is_empty(message)
    assert facts_of(message).tokens == 0


@pytest.mark.parametrize("part", [Image(url="u"), Other("server_tool_use", {"type": "server_tool_use", "id": "s"})])
def test_an_assistant_message_of_one_unknown_part_or_image_counts(part: Part) -> None:
    message = Message("assistant", (part,))
    assert not is_empty(message)
    assert facts_of(message).tokens == count_message(message)


def test_a_user_message_without_text_is_not_empty() -> None:
    assert not is_empty(user(""))
    assert facts_of(user("")).tokens == MESSAGE


def test_long_arguments_know_what_an_excerpt_would_save() -> None:
    arguments = json.dumps({"content": "fold the line " * 200})
    saving = facts_of(assistant("", ToolCall("c1", "write", arguments))).arguments_saving
    assert 0 < saving < count_text(arguments)


def test_arguments_that_excerpts_would_not_shrink_save_nothing() -> None:
    many_spaces = json.dumps({"content": " " * 900})
    assert facts_of(assistant("", ToolCall("c1", "write", many_spaces))).arguments_saving == 0
    assert facts_of(assistant("", ToolCall("c1", "ls", '{ "a" : 1 }'))).arguments_saving == 0


def test_a_result_knows_the_tokens_of_its_excerpts() -> None:
    text = "fold the line\n" * 1_000
    facts = facts_of(answer("c1", text))
    assert facts.answers == "c1"
    assert facts.excerpts == tuple(count_text(excerpt(text, level)) for level in LEVELS[:2])


def test_a_short_result_has_no_excerpts() -> None:
    assert facts_of(answer("c1", "ok")).excerpts == ()


def test_an_excerpt_of_a_result_with_an_image_leaves_the_image_out() -> None:
    facts = facts_of(Message("tool", (ToolResult("c1", (Text("a chart"), Image(url="u"))),)))
    assert facts.tokens == MESSAGE + RESULT + count_text("a chart") + IMAGE
    assert facts.excerpts == (count_text("a chart"),) * 3


@pytest.mark.parametrize(
    "text", ["Error: no", "  Traceback (most recent call last)", "ENOENT: a.py", "<error>no</error>"]
)
def test_a_result_that_reports_a_failure_is_one(text: str) -> None:
    assert facts_of(answer("c1", text)).is_failure


def test_a_result_is_a_failure_if_its_sender_says_so() -> None:
    assert facts_of(answer("c1", "fine", is_error=True)).is_failure
    assert not facts_of(answer("c1", "no error at all")).is_failure


def test_only_what_is_not_a_column_is_written() -> None:
    assert to_json(Facts("user", 7, 3, 3)) == {}


def test_facts_read_back_as_they_were_written() -> None:
    details = Details(excerpts=(5, 6), read=Read("a.py", 1, 9), placeholders=(20, 9))
    facts = Facts("tool", 9, 4, 3, answers="c1", details=details)
    assert from_json(Facts("tool", 9, 4, 3), json.loads(json.dumps(to_json(facts)))) == facts


@pytest.mark.parametrize(
    "call", [Call("c"), Call("c", Read("a", 1, 9), "read", placeholders=(20, 9)), Call("c", tool="edit", changes="a")]
)
def test_a_call_reads_back_as_it_was_written(call: Call) -> None:
    assert call_from_json(json.loads(json.dumps(call_to_json(call)))) == call


@pytest.mark.parametrize(
    ("row", "call"),
    [
        (["c", None], Call("c")),
        (["c", ["a", 1, 9]], Call("c", Read("a", 1, 9))),
        (["c", None, "edit"], Call("c", None, "edit")),
        (["c", None, "edit", "a"], Call("c", None, "edit", "a")),
        (["c", None, "edit", "a", [16, 0], "later"], Call("c", None, "edit", "a", (16, 0))),
    ],
)
def test_a_call_reads_back_as_an_older_or_a_later_version_wrote_it(row: list[object], call: Call) -> None:
    assert call_from_json(row) == call


def test_sizes_of_images_are_stored_and_those_of_before_have_no_side() -> None:
    facts = facts_of(Message("user", (Image("image/gif", picture(300)), Image(url="https://example.org/a.png"))))
    assert facts.images == (ImageSize(32, 300), ImageSize(0))
    bare = Facts("user", facts.tokens)
    assert from_json(bare, loads(dumps(to_json(facts)))).images == facts.images
    assert from_json(bare, {"images": [32, 0]}).images == (ImageSize(32), ImageSize(0))


def test_details_on_demand_are_found_one_by_one_and_are_those_of_the_message() -> None:
    message = answer("a", "error: " + "long " * 2_000)
    details = facts_on_demand(message).details
    found = vars(details).copy()
    assert details.is_failure
    assert vars(details).keys() - found.keys() == {"is_failure"}
    assert details.known() == facts_of(message).details


def test_calls_on_demand_read_their_arguments_when_asked_and_are_those_of_the_message() -> None:
    message = assistant("", read_call("c1", "a.py"), ToolCall("c2", "edit", '{"path": "b.py"}'))
    calls = facts_on_demand(message).calls
    found = vars(calls[0]).copy()
    assert calls[0].read == Read("a.py")
    assert vars(calls[0]).keys() - found.keys() == {"read"}
    assert tuple(call.known() for call in calls) == facts_of(message).calls


def test_a_result_on_demand_has_the_read_and_the_placeholders_of_its_call() -> None:
    call = facts_on_demand(assistant("", read_call("c1", "a.py"))).calls[0]
    answered = facts_on_demand(answer("c1", "text")).answering(call, 7, 6)
    assert (answered.seq, answered.unit, answered.answers, answered.tool) == (7, 6, "c1", "read_file")
    assert (answered.read, answered.placeholders) == (Read("a.py"), placeholder_tokens("read_file", "a.py"))
    assert answered.details.known() == facts_of(answer("c1", "text")).answering(call, 7, 6).details
