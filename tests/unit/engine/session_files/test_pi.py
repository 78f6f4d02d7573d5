import json
from pathlib import Path
from typing import Any

import pytest

from foldline.engine.files import Files
from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.session_files.pi import MalformedLine, PiSession, details_of, read, reported_tokens, write
from foldline.engine.session_files.pi_messages import parse

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/home/me"}
LINEAR = {key: value for key, value in HEADER.items() if key != "version"}
CORPUS = Path(__file__).parents[5] / "shared" / "corpus" / "pi-large-session.raw.jsonl"


def entry(name: str, parent: str | None, kind: str = "label", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": name, "parentId": parent, **fields}


def message(name: str, parent: str | None, role: str = "user", content: Any = "ask", **fields: Any) -> dict[str, Any]:
    return entry(name, parent, "message", message={"role": role, "content": content, **fields})


def answer(name: str, parent: str | None, *content: Any, **fields: Any) -> dict[str, Any]:
    return message(name, parent, "assistant", list(content), **fields)


def shell(name: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return entry(name, parent, "message", message={"role": "bashExecution", "command": "ls", "output": "x", **fields})


def compaction(name: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return entry(name, parent, "compaction", **{"summary": "so far", "tokensBefore": 9, **fields})


def session(*entries: dict[str, Any], **header: Any) -> PiSession:
    return read(write({**HEADER, **header}, entries))


def unnamed(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries as version 1 has them."""
    return [{key: value for key, value in entry.items() if key not in {"id", "parentId"}} for entry in entries]


TALK = [
    message("a", None),
    entry("b", "a", "bash"),
    answer("c", "b", {"type": "toolCall", "id": "t|1", "name": "read", "arguments": {"path": "x"}}),
    message("d", "c", "toolResult", [{"type": "text", "text": "ok"}], toolCallId="t|1", toolName="read", isError=True),
    shell("e", "d"),
    entry("f", "e", "custom_message", customType="note", content="mind the gap", display=True),
    answer("g", "f", {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "done"}),
]


@pytest.mark.parametrize("version", [2, 3])
def test_entries_form_a_tree_by_their_ids(version: int) -> None:
    found = session(*TALK, message("h", "a"), version=version)
    assert found.version == version
    assert found.leaf == "h"
    assert [(each.id, each.parent) for each in found.entries[-2:]] == [("g", "f"), ("h", "a")]
    assert [each.line for each in found.entries] == [*range(2, 10)]
    assert found.entries[0].source == TALK[0]


def test_entries_of_the_first_version_follow_each_other() -> None:
    sources = unnamed(TALK)
    found = read(write(LINEAR, sources))
    assert found.version == 1
    assert [(each.id, each.parent) for each in found.entries[:2]] == [("line-2", None), ("line-3", "line-2")]
    assert [each.source for each in found.entries] == sources
    assert read(write({**LINEAR, "version": 1}, sources)).entries == found.entries


def test_entries_are_of_the_kind_a_model_sees_them_as() -> None:
    found = session(
        *TALK,
        compaction("h", "g"),
        entry("i", "h", "branch_summary", summary="tried it", fromId="root"),
        shell("j", "i", exitCode=1),
        shell("k", "j", excludeFromContext=True),
        entry("l", "k", "something_new", anything=[1]),
    )
    kinds = [each.kind for each in found.entries]
    assert kinds[:7] == ["message", "other", *["message"] * 5]
    assert kinds[7:] == ["compaction", "branch_summary", "message", "other", "other"]


def test_a_session_may_have_no_entries() -> None:
    found = session()
    assert (found.entries, found.leaf, found.model) == ((), None, None)


@pytest.mark.parametrize(
    ("fields", "first_kept"),
    [
        ({"firstKeptEntryId": "c"}, "c"),
        ({"firstKeptEntryId": "h"}, "h"),
        ({"firstKeptEntryId": "i"}, None),
        ({"firstKeptEntryId": None}, None),
        ({"firstKeptEntryIndex": 1}, None),
    ],
)
def test_a_compaction_keeps_what_follows_the_entry_it_names(fields: dict[str, Any], first_kept: str | None) -> None:
    found = session(*TALK, compaction("h", "g", **fields), message("i", "h"))
    assert found.entries[7].first_kept == first_kept


@pytest.mark.parametrize(
    ("index", "first_kept"), [(1, "line-3"), (8, "line-10"), (9, None), (0, None), (-1, None), (None, None)]
)
def test_the_first_version_counts_entries_from_the_header_on(index: int | None, first_kept: str | None) -> None:
    sources = unnamed([*TALK, compaction("h", "g", firstKeptEntryIndex=index), message("i", "h")])
    header, entries = write(LINEAR, sources).split("\n", 1)
    assert read(f"{header}\n\n{entries}").entries[7].first_kept == first_kept


def test_blank_lines_count_as_lines_only() -> None:
    header, first, rest = write(HEADER, TALK).split("\n", 2)
    found = read(f"\n{header}\r\n \t\n{first}\r\n{rest}\n\n".encode())
    assert [each.line for each in found.entries[:2]] == [4, 5]
    assert [each.source for each in found.entries] == TALK


def test_a_line_ends_at_a_newline_and_nowhere_else() -> None:
    said = message("a", None, content="one\u2028two\x85three\x0b")
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in (HEADER, said))
    assert read(text).entries[0].source == said


@pytest.mark.parametrize(
    ("text", "line", "detail"),
    [
        ("", 1, "the file is empty"),
        (" \n\n", 1, "the file is empty"),
        (b'{"type":\n"\xff"}', 2, "not UTF-8: invalid start byte"),
        ("[]", 1, "entry: expected an object, found a list"),
        ('\n{"a" 1}', 2, "not JSON at column 6: "),
        ('{"a": NaN}', 1, "NaN is no JSON value"),
        ("[" * 200_000 + "]" * 200_000, 1, "nested deeper than 200 levels"),
    ],
)
def test_text_that_holds_no_objects_is_refused(text: str | bytes, line: int, detail: str) -> None:
    with pytest.raises(MalformedLine) as caught:
        read(text)
    assert caught.value.line == line
    assert detail in caught.value.detail
    assert str(caught.value) == f"line {line}: {caught.value.detail}"


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ({"id": "s1"}, "header.type: "),
        (TALK[0], "header.type: the first line"),
        ({**HEADER, "id": 1}, "header.id: "),
        ({**HEADER, "modelId": 1}, "header.modelId: "),
        *(({**HEADER, "version": version}, "header.version: ") for version in (4, 0, "3", True, 2.0, None)),
    ],
)
def test_a_header_that_is_none_is_refused(header: dict[str, Any], detail: str) -> None:
    with pytest.raises(MalformedLine, match=f"^line 1: {detail}"):
        read(write(header, TALK))


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ({"id": "x", "parentId": "a"}, "entry.type: "),
        ({"type": 1, "id": "x", "parentId": "a"}, "entry.type: "),
        (HEADER, "entry.type: a second session header"),
        ({"type": "label", "parentId": "a"}, "entry.id: expected a string"),
        (entry("", "a"), "entry.id: '' is empty"),
        (entry("a", "a"), "entry.id: 'a' is empty or the id of an earlier entry"),
        (entry("x", "x"), "entry.parentId: 'x' is the id of no earlier entry"),
        ({**entry("x", "a"), "parentId": 1}, "entry.parentId: expected a string or null"),
        (message("x", "a", "robot"), "entry.message.role: "),
        (answer("x", "a", {"type": "text"}), r"entry.message.content\[0\].text: "),
        (compaction("x", "a", summary=None), "entry.summary: "),
        (compaction("x", "a", firstKeptEntryId=7), "entry.firstKeptEntryId: "),
        (compaction("x", "a", firstKeptEntryIndex=True), "entry.firstKeptEntryIndex: "),
        (compaction("x", "a", tokensBefore="9"), "entry.tokensBefore: "),
        (entry("x", "a", "branch_summary"), "entry.summary: "),
        (entry("x", "a", "model_change", provider="openai"), "entry.modelId: "),
    ],
)
def test_an_entry_that_is_wrong_is_named_by_its_line(source: dict[str, Any], detail: str) -> None:
    with pytest.raises(MalformedLine, match=f"^line 3: {detail}"):
        session(message("a", None), source, message("b", "a"))


def test_repeated_and_late_results_are_read() -> None:
    late = [message(name, "d", "toolResult", [], toolCallId="t|1") for name in ("x", "y")]
    assert len(session(*TALK, *late).entries) == 9


CHANGE = entry("h", "g", "model_change", provider="openai", modelId="gpt-4o")


@pytest.mark.parametrize(
    ("later", "model"),
    [
        ([], "own/header"),
        ([CHANGE], "openai/gpt-4o"),
        ([CHANGE, answer("i", "h", provider="anthropic", model="claude/x")], "anthropic/claude/x"),
        ([CHANGE, answer("i", "h")], "openai/gpt-4o"),
        ([CHANGE, message("i", "g")], "own/header"),
    ],
)
def test_the_model_is_the_last_one_on_the_way_to_the_leaf(later: list[dict[str, Any]], model: str) -> None:
    assert session(*TALK, *later, provider="own", modelId="header").model == model


PARTS = {"input": 1, "output": 20, "cacheRead": 300, "cacheWrite": 4000}


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        (answer("a", None, usage=PARTS), 4321),
        (answer("a", None, usage={**PARTS, "totalTokens": 5000}), 5000),
        (answer("a", None, usage={**PARTS, "totalTokens": 0}, stopReason="stop"), 4321),
        (answer("a", None, usage={"input": 7, "output": None}), 7),
        (answer("a", None, usage=PARTS, stopReason="aborted"), 0),
        (answer("a", None, usage=PARTS, stopReason="error"), 0),
        (answer("a", None, usage=dict.fromkeys(PARTS, 0)), 0),
        (answer("a", None, usage={"input": -5}), 0),
        (answer("a", None), 0),
        (message("a", None, usage=PARTS), 0),
        (compaction("a", None, usage=PARTS), 0),
    ],
)
def test_reported_tokens_are_those_of_the_whole_call(source: dict[str, Any], tokens: int) -> None:
    assert reported_tokens(session(source).entries[0].source) == tokens


NOTED = {"readFiles": ["a", "b"], "modifiedFiles": ["b"]}


@pytest.mark.parametrize(
    ("fields", "files"),
    [
        ({"details": NOTED}, Files(frozenset("ab"), frozenset("b"))),
        ({"details": NOTED, "fromHook": False}, Files(frozenset("ab"), frozenset("b"))),
        ({"details": NOTED, "fromHook": True}, Files()),
        ({"details": {**NOTED, "readFiles": ["a", 1]}}, Files(modified=frozenset("b"))),
        ({"details": {"readFiles": "ab"}}, Files()),
        ({"details": [NOTED]}, Files()),
        ({}, Files()),
    ],
)
def test_the_files_of_a_summary_are_those_pi_noted_itself(fields: dict[str, Any], files: Files) -> None:
    assert details_of(compaction("a", None, **fields)) == files


def test_what_is_read_is_written_again() -> None:
    odd = {
        "big": 1 << 80,
        "small": 5e-324,
        "one": 1.0,
        "text": "\ud800 漢\u2028",
        "none": None,
        "order": {"b": 1, "a": 2},
    }
    found = session(*TALK, entry("h", "g", "custom", data=odd), extra=odd)
    text = write(found.header, (each.source for each in found.entries))
    assert [json.loads(line) for line in text.split("\n")[:-1]] == [
        {**HEADER, "extra": odd},
        *TALK,
        entry("h", "g", "custom", data=odd),
    ]
    assert text.endswith("}\n")
    assert read(text.encode()) == found


@pytest.mark.parametrize("target", sorted(FORMATS))
def test_a_well_formed_session_obeys_the_rules_of_every_format(target: str) -> None:
    messages = parse([each.source for each in session(*TALK).entries if each.kind == "message"])
    rendered = FORMATS[target].render(messages, None)
    assert check(target, rendered.messages, None) == []
    assert "mind the gap" in json.dumps(rendered.messages)


@pytest.mark.skipif(not CORPUS.is_file(), reason="needs ../shared")
def test_a_real_session_is_read_whole() -> None:
    text = CORPUS.read_bytes()
    found = read(text)
    sources = [each.source for each in found.entries]
    assert (found.version, found.leaf, len(sources)) == (1, "line-1019", 1018)
    assert sum(each.kind == "message" for each in found.entries) == 914
    assert found.model == "anthropic/claude-sonnet-4-5"
    assert [json.loads(line) for line in text.splitlines()] == [found.header, *sources]
    assert read(write(found.header, sources)) == found
