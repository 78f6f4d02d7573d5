from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline.replay.transcripts import read_transcripts
from foldline.terminal import CommandFailed

HELLO = {"role": "user", "content": "hello"}
ANSWER = {"role": "assistant", "content": "hi"}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_each_line_of_json_lines_is_a_session(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", lines({"id": "a", "messages": [HELLO, ANSWER]}, [HELLO]))

    first, second = read_transcripts(path)

    assert (first.id, first.messages, first.format) == ("a", [HELLO, ANSWER], "openai")
    assert (second.id, second.messages) == ("s.jsonl, line 2", [HELLO])


@pytest.mark.parametrize("name", ["oa.json", "oa.jsonl"])
def test_the_only_session_of_a_file_is_named_after_it(tmp_path: Path, name: str) -> None:
    (transcript,) = read_transcripts(write(tmp_path, name, lines([HELLO])))

    assert transcript.id == "oa"


def test_blank_lines_and_a_byte_order_mark_are_no_sessions(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", "\ufeff\n" + lines([HELLO]) + "\n\n")

    assert [transcript.messages for transcript in read_transcripts(path)] == [[HELLO]]


@pytest.mark.parametrize("value", [[HELLO, ANSWER], {"messages": [HELLO, ANSWER]}])
def test_one_document_over_many_lines_is_one_session(tmp_path: Path, value: Any) -> None:
    path = write(tmp_path, "s.json", json.dumps(value, indent=2))

    assert [transcript.messages for transcript in read_transcripts(path)] == [[HELLO, ANSWER]]


@pytest.mark.parametrize("content", ["be brief", [{"type": "text", "text": "be brief"}]])
def test_a_leading_system_message_becomes_the_system_prompt(tmp_path: Path, content: Any) -> None:
    path = write(tmp_path, "s.jsonl", lines([{"role": "system", "content": content}, HELLO]))

    (transcript,) = read_transcripts(path)

    assert (transcript.system, transcript.messages) == ("be brief", [HELLO])


def test_a_system_prompt_and_tools_beside_the_messages_are_read(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]}
    record = {"system": "be brief", "tools": [{"name": "look"}], "messages": [HELLO, call]}

    (transcript,) = read_transcripts(write(tmp_path, "s.jsonl", lines(record)))

    assert (transcript.format, transcript.system, transcript.tools) == ("anthropic", "be brief", ({"name": "look"},))


def test_a_record_with_messages_is_a_session_whatever_its_type(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", lines({"type": "session", "messages": [HELLO]}))

    assert read_transcripts(path)[0].messages == [HELLO]


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", '[{"role": "user", "content": "\\ud800"}]\n')

    assert read_transcripts(path)[0].messages[0]["content"] == "\ud800"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.jsonl", lines([HELLO]) + '{"messages": [\n', "line 2, column 15: not JSON"),
        ("s.json", '{\n "messages": [}\n', "line 2, column 15: not JSON"),
        ("s.jsonl", lines([HELLO], {"id": 1}), "line 2: not a session"),
        ("s.jsonl", lines("hello"), "line 1: not a session"),
        ("s.jsonl", lines([HELLO, "hello"]), "line 1: messages[1]: expected an object"),
        ("s.jsonl", lines([HELLO], [{"role": "nobody", "content": ""}]), "line 2: messages[0].role"),
        ("s.jsonl", lines({"messages": [HELLO], "format": "morse"}), "line 1: unknown format 'morse'"),
        (
            "s.jsonl",
            lines({"type": "session", "id": "a"}) + "{",
            "line 1: this is a session file of pi; use `foldline import`",
        ),
        ("s.jsonl", "\n \n", "is empty"),
    ],
)
def test_what_is_no_session_is_refused_with_its_place(tmp_path: Path, name: str, text: str, expected: str) -> None:
    path = write(tmp_path, name, text)

    with pytest.raises(CommandFailed) as caught:
        read_transcripts(path)

    assert expected in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="cannot read"):
        read_transcripts(tmp_path / "none.jsonl")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\x1f\x8b\x08\x00")

    with pytest.raises(CommandFailed, match="not UTF-8"):
        read_transcripts(path)
