from __future__ import annotations

from typing import Any

from foldline.cli.layout import layout
from foldline.engine import wording
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message

JsonDict = dict[str, Any]


def parsed(*messages: JsonDict) -> list[Message]:
    return FORMATS["openai"].parse(list(messages))


def say(role: str, text: str) -> JsonDict:
    return {"role": role, "content": text}


def call(call_id: str, path: str) -> JsonDict:
    function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(call_id: str, text: str) -> JsonDict:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


HISTORY = [
    say("user", "look around"),
    say("assistant", "I will."),
    say("user", "read src/app.py twice"),
    call("c1", "src/app.py"),
    result("c1", "import this\n" * 40),
    call("c2", "src/app.py"),
    result("c2", "import that\n" * 40),
    call("c3", "README.md"),
    result("c3", "word " * 400),
    say("assistant", "Done."),
]


GOLDEN = """
        user      pin              0 → 16 tokens   [Pinned. Keep to this at all times:] stay calm
  01–02 user      condense        13 → 28 tokens   2 messages
     03 user      kept                  9 tokens   read src/app.py twice
     04 assistant kept                 22 tokens   read_file src/app.py
     05 tool      supersede      128 → 23 tokens   read_file src/app.py
     06 assistant kept                 22 tokens   read_file src/app.py
     07 tool      clear          128 → 23 tokens   read_file src/app.py
     08 assistant kept                 21 tokens   read_file README.md
     09 tool      excerpt        409 → 13 tokens   read_file README.md
     10 assistant kept                  6 tokens   Done.
"""


def test_a_view_that_is_the_history_keeps_every_message() -> None:
    lines = layout(parsed(*HISTORY), parsed(*HISTORY))

    assert [(line.first, line.fate) for line in lines] == [(number, "kept") for number in range(1, 11)]


def test_every_kind_of_edit_is_named_with_what_it_saved() -> None:
    view = [
        say("user", f"{wording.PINNED}\nstay calm"),
        say("user", f"{wording.SUMMARY}\nThey looked around."),
        HISTORY[2],
        HISTORY[3],
        result("c1", wording.READ_AGAIN),
        HISTORY[5],
        result("c2", wording.CLEARED),
        HISTORY[7],
        result("c3", "word word\n…\nword"),
        HISTORY[9],
    ]

    lines = layout(parsed(*HISTORY), parsed(*view))

    assert [str(line) for line in lines] == GOLDEN.strip("\n").splitlines()


def test_an_edit_is_known_by_a_placeholder_that_names_a_call() -> None:
    view = [*HISTORY]
    view[4:7:2] = result("c1", wording.read_again("src/app.py")), result("c2", wording.cleared("bash"))

    lines = layout(parsed(*HISTORY), parsed(*view))

    assert [line.fate for line in lines if line.fate != "kept"] == ["supersede", "clear"]


def test_hidden_messages_are_counted_with_their_marker() -> None:
    lines = layout(parsed(*HISTORY), parsed(say("user", wording.HIDDEN), *HISTORY[5:]))

    assert (lines[0].first, lines[0].last, lines[0].fate, lines[0].label) == (1, 5, "hide", "5 messages")


def test_what_the_view_adds_has_no_number() -> None:
    lines = layout(parsed(*HISTORY[:4]), parsed(*HISTORY[:4], result("c9", wording.UNANSWERED)))

    assert (lines[-1].first, lines[-1].fate, lines[-1].label) == (0, "added", "")


def test_what_is_missing_from_a_view_is_reported() -> None:
    lines = layout(parsed(*HISTORY), parsed(*HISTORY[:8]))

    assert (lines[-1].first, lines[-1].last, lines[-1].fate) == (9, 10, "left out")
