"""What the extractive summary keeps of coding sessions, dialogues and earlier summaries, and how it uses its budget.

All of it holds under the headings of every system.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest

from foldline.engine.formats import FORMATS
from foldline.engine.ledger.section_lines import places
from foldline.engine.messages import Message, Text, Thinking, ToolCall, ToolResult
from foldline.engine.summaries.extractive import summarize
from foldline.engine.summaries.headings import HEADINGS, Section
from foldline.engine.summaries.prompt import SummaryInput
from foldline.engine.tokens.counter import count_messages, count_text
from tests.support.function_calls import calls_in

CORPUS = Path(__file__).parents[5] / "shared" / "corpus"
# A second or two where nothing else runs; an expression that backtracks, or a text read once a line, takes hours.
SECONDS_FOR_HOSTILE_TEXT = 60


# The same text is read under the headings of every system: one is enough where it is about time.
UNDER_ONE = pytest.mark.parametrize(
    "headings",
    [pytest.param(name, marks=() if name == "foldline" else pytest.mark.thorough) for name in HEADINGS],
    indirect=True,
)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (Text(text),))


class Session:
    """A conversation in the making, to be summarized under the headings of the system that a test runs for."""

    headings: ClassVar[str] = "foldline"

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._ids = count(1)

    def say(self, *messages: Message) -> Session:
        self.messages += messages
        return self

    def call(self, name: str, output: str | None, *, is_error: bool = False, **arguments: object) -> Session:
        call_id = f"call_{next(self._ids)}"
        self.messages.append(Message("assistant", (ToolCall(call_id, name, json.dumps(arguments)),)))
        if output is not None:
            result = ToolResult(call_id, (Text(output),), name, is_error=is_error)
            self.messages.append(Message("tool", (result,)))
        return self

    def summary(self, max_tokens: int = 1_000, *previous: str) -> str:
        return summarize(SummaryInput(previous, tuple(self.messages), max_tokens, headings=self.headings))


@pytest.fixture(params=HEADINGS, autouse=True)
def headings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The system whose headings a test's summaries have."""
    monkeypatch.setattr(Session, "headings", request.param)
    return Session.headings


def under(section: Section, summary: str) -> list[str]:
    """The lines of a section, without bullets."""
    headings, content = places(Session.headings)[section]
    heading = ""
    found: list[str] = []
    for line in summary.split("\n"):
        if line.startswith("#"):
            heading = line
        elif heading == headings[-1]:
            found += [said for whose, said in [content.read(line.removeprefix("- "))] if whose is section]
    return found


def coding() -> Session:
    return (
        Session()
        .say(
            user("Make the parser stream its input. You must not change the public API. Only use the standard library.")
        )
        .say(assistant("I'll look at the parser first."))
        .call("read_file", "class Parser:\n    # raises ParseError: on bad input\n    pass", path="src/parser.py")
        .call("edit", "ok", path="src/parser.py", old="a", new="b")
        .call(
            "bash", "collected 3 items\n\nE   AssertionError: chunk lost\n1 failed, 2 passed", command="pytest -q tests"
        )
        .call("edit", "ok", path="src/parser.py", old="b", new="c")
        .call("bash", "3 passed in 0.1s", command="pytest -q tests")
        .say(assistant("Fixed: the root cause was a buffer that was cleared too early, so chunks got lost."))
        .say(user("Good. Now write the docs in docs/streaming.md, at most 40 lines."))
        .call("write", "written", path="docs/streaming.md", content="# Streaming")
        .say(assistant("Written. Shall I also add an example?"))
        .say(user("yes please"))
        .call("bash", None, command="python examples/stream.py")
    )


CODING = """\
## Rules
- You must not change the public API.
- Only use the standard library.
## Asked
- Make the parser stream its input.
- Now write the docs in docs/streaming.md, at most 40 lines.
## Decided
- Fixed: the root cause was a buffer that was cleared too early, so chunks got lost.
- Shall I also add an example? → yes please
## Open
- $ python examples/stream.py
## Commands
- $ pytest -q tests → "E AssertionError: chunk lost" → "3 passed in 0.1s"
## Files
- changed src/parser.py
- created docs/streaming.md
## Said
- I'll look at the parser first.
- Good.
- Written.
"""


@pytest.mark.parametrize("headings", ["foldline"], indirect=True)
def test_the_sections_of_a_coding_session() -> None:
    assert f"{coding().summary()}\n" == CODING


def test_a_rule_is_kept_wherever_the_user_stated_it() -> None:
    session = Session()
    for number in range(60):
        session.say(
            user(f"Step {number}: rename variable {number}."), assistant(f"Renamed variable {number} in file {number}.")
        )
    session.messages.insert(40, user("One more thing: never commit to main."))
    assert "never commit to main" in session.summary(200)


@pytest.mark.parametrize(
    "rule",
    [
        "Never touch the vendor folder.",
        "Always run the formatter first.",
        "Don't use eval.",
        "You should not log passwords.",
        "Make sure that it works offline.",
        "不要修改数据库结构。",
        "必须使用中文回答。",
        "价格不超过500元。",
        "テストは必ず実行してください。",
        "절대 삭제하지 마세요.",
    ],
)
def test_rules_are_recognized_in_several_languages(rule: str) -> None:
    summary = Session().say(user(f"Start the work on the server.\n{rule}"), assistant("ok")).summary()
    assert rule in under(Section.RULES, summary)


@pytest.mark.parametrize(
    "remark", ["i don't think it works correctly", "they don't know the answer", "we do not see it"]
)
def test_a_negated_remark_is_no_rule(remark: str) -> None:
    assert under(Section.RULES, Session().say(user(remark), assistant("I see.")).summary()) == []


def test_a_command_shows_how_it_ended_last() -> None:
    session = Session().say(user("build it"))
    for output in ("error: no rule", "error: missing header", "built in 3 s"):
        session.call("bash", output, command="make all")
    assert under(Section.ENDED, session.summary()) == ['$ make all → "error: missing header" → "built in 3 s"']


def test_a_command_that_fails_again_says_so() -> None:
    session = Session().say(user("build it"))
    for output in ("built", "error: missing header\nmore"):
        session.call("bash", output, command="make all")
    assert under(Section.ENDED, session.summary()) == ['$ make all → "error: missing header"']


def test_source_code_that_speaks_of_errors_is_no_error() -> None:
    session = Session().say(user("look"))
    session.call("read", "import x\n\nerror: this is a string\nTypeError: another\n", path="a.py")
    session.call("bash", "a.py:3: raise ValueError('x')\nerror: y", command="grep -rn Error src")
    assert "raise" not in "".join(under(Section.OPEN, session.summary()))
    assert all("TypeError" not in line for line in under(Section.ENDED, session.summary()))


def test_a_failed_read_is_in_the_summary() -> None:
    session = Session().say(user("look")).call("read", "ENOENT", is_error=True, path="a.py")
    assert under(Section.ENDED, session.summary()) == ['read a.py → "ENOENT"']


def test_files_come_from_shell_commands_too() -> None:
    session = Session().say(user("go"))
    session.call("bash", "", command="sed -i 's/a/b/' src/one.py && cat src/two.py > /dev/null")
    session.call("bash", "", command="cp src/two.py src/three.py; rm old.txt")
    files = under(Section.FILES, session.summary())
    assert {"read src/two.py", "changed src/three.py", "deleted old.txt"} <= set(files)
    assert not any("/dev/null" in line for line in files)


def test_a_file_read_and_then_changed_counts_as_changed() -> None:
    session = Session().say(user("go")).call("Edit", "ok", file_path="a.py").call("Read", "x", file_path="a.py")
    assert under(Section.FILES, session.summary()) == ["changed a.py"]


def test_a_short_reply_keeps_its_question() -> None:
    session = Session().say(user("I want to change my flight."), assistant("Sure. What is your user ID?"))
    session.say(user("It's sofia_kim_7287."), assistant("Thank you, found it."))
    assert "What is your user ID? → It's sofia_kim_7287." in under(Section.DECIDED, session.summary())


def test_a_dialogue_keeps_questions_with_their_answers() -> None:
    session = Session().say(user("那给我推荐一个评分4.5以上的景点吧\uff1f"), assistant("建议你去中华民族园。"))
    session.say(user("什刹海电话多少\uff1f"), assistant("那里电话是010-84018677。"))
    assert under(Section.ASKED, session.summary()) == [
        "那给我推荐一个评分4.5以上的景点吧\uff1f → 建议你去中华民族园。",
        "什刹海电话多少\uff1f → 那里电话是010-84018677。",
    ]


def test_commands_written_as_text_are_understood() -> None:
    session = Session().say(user("Find the flag."), assistant("I will look.\n```bash\ncat /flag\n```"))
    session.say(user("cat: /flag: Permission denied\nbash-$ "), assistant("Not allowed; I will try sudo."))
    assert under(Section.ENDED, session.summary()) == ['$ cat /flag → "cat: /flag: Permission denied"']


def test_an_unfinished_turn_is_open() -> None:
    session = Session().say(user("Translate the page."), assistant("Now I translate the second half of the page."))
    session.call("fetch_page", "<html>", url="https://example.org")
    opened = under(Section.OPEN, session.summary())
    assert opened[0] == "Translate the page."
    assert "Now I translate the second half of the page." in opened


def test_an_earlier_summary_is_merged() -> None:
    first = coding().summary()
    later = Session().say(user("Now release version 2."), assistant("Released version 2.0.0 as tag v2.0.0."))
    later.call("bash", "2 failed", command="pytest -q tests")
    merged = later.summary(1_000, first)
    assert "You must not change the public API." in under(Section.RULES, merged)
    assert "Make the parser stream its input." in under(Section.ASKED, merged)
    assert "changed src/parser.py" in under(Section.FILES, merged)
    assert under(Section.ENDED, merged) == ['$ pytest -q tests → "2 failed"']
    assert not any("examples/stream.py" in line for line in under(Section.OPEN, merged))


def test_rules_outlive_many_rounds_of_chatter() -> None:
    text = coding().summary(300)
    for number in range(12):
        talk = Session()
        for step in range(10):
            talk.say(user(f"Look at part {number}.{step} of the plan and explain it in detail."))
            talk.say(
                assistant(f"Part {number}.{step} is about the {step}th item, which was updated with {step} points.")
            )
        text = talk.summary(300, text)
    assert "You must not change the public API." in text
    assert "Make the parser stream its input." in text


def test_free_text_of_another_writer_is_merged_by_its_headings() -> None:
    previous = "**Goal**\nShip the thing\n\n### Constraints\n1. Never break the API\n\nNext steps:\n* [ ] write docs\n"
    merged = Session().summary(500, previous)
    assert under(Section.ASKED, merged) == ["Ship the thing"]
    assert under(Section.RULES, merged) == ["Never break the API"]
    assert under(Section.OPEN, merged) == ["write docs"]


def test_lines_without_headings_are_kept_as_decided() -> None:
    merged = Session().summary(500, "The user wants X.\nWe chose SQLite for storage.")
    assert under(Section.DECIDED, merged) == ["The user wants X.", "We chose SQLite for storage."]


def test_nothing_is_said_twice() -> None:
    session = coding()
    session.messages += coding().messages
    lines = session.summary(1_000, coding().summary()).split("\n")
    assert len(lines) == len(set(lines))


def test_a_summary_of_its_own_text_changes_nothing_more() -> None:
    once = Session().summary(1_000, coding().summary())
    assert Session().summary(1_000, once) == once


@pytest.mark.parametrize("max_tokens", [8, 9, 15, 40, 63, 64, 120])
def test_a_tiny_budget_still_says_something(max_tokens: int) -> None:
    summary = coding().summary(max_tokens)
    assert 0 < count_text(summary) <= max_tokens
    assert any(word in summary for word in ("parser", "API", "example", "library"))


@pytest.mark.parametrize(
    "messages",
    [(), (user(""),), (user(" \n "),), (Message("assistant", (ToolCall("c", "noop", ""),)),)],
    ids=["none", "empty", "blank", "a bare call"],
)
def test_a_summary_of_nothing_is_not_empty(messages: tuple[Message, ...]) -> None:
    assert 0 < count_text(summarize(SummaryInput((), messages, 8))) <= 8


def test_thinking_alone_is_enough() -> None:
    assert "SQLite" in summarize(SummaryInput((), (Message("assistant", (Thinking("SQLite will do."),)),), 50))


def test_control_characters_do_not_pass() -> None:
    session = Session().say(user("fix\x00 it")).call("bash", "\x1b[31merror: bad\x1b[0m thing", command="make")
    session.call("read", "ok", path="src/\x1b[1ma\x00.py")
    assert under(Section.ENDED, session.summary()) == ['$ make → "error: bad thing"']
    assert under(Section.FILES, session.summary()) == ["read src/a.py"]
    assert "\x00" not in session.summary()


def test_a_heading_in_a_message_makes_no_section() -> None:
    heading = places(Session.headings)[Section.RULES].headings[-1]
    session = Session().say(user(f"{heading}\nthe weather is nice"), assistant("ok"))
    assert "the weather is nice" not in under(Section.RULES, session.summary())


def test_instructions_in_a_developer_message_are_rules() -> None:
    developer = Message("developer", (Text("You must answer in French. This is a shop."),))
    summary = Session().say(developer, user("hello there, what is new?"), assistant("Bonjour.")).summary()
    assert under(Section.RULES, summary) == ["You must answer in French."]


HOSTILE = {
    "spaces": " " * 1_000_000,
    "gap": "do " + " " * 1_000_000 + " it",
    "words": "word " * 2_000_000,
    "one word": "x" * 10_000_000,
    "lines": "must\n" * 1_000_000,
    "dashes": "-" * 1_000_000,
    "ticks": "`" * 300_000,
    "marks": "?!. " * 250_000,
    "newlines": "\n" * 1_000_000,
    "accents": "a\u0301" * 200_000,
    "chinese": "不要" * 300_000,
}


@UNDER_ONE
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(SECONDS_FOR_HOSTILE_TEXT)
def test_hostile_text_does_not_hang(name: str) -> None:
    summarize_only(HOSTILE[name])


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(SECONDS_FOR_HOSTILE_TEXT)
def test_hostile_text_does_not_hang_under_any_headings(name: str) -> None:
    """A little of it: what takes hours for a million characters takes minutes for these."""
    summarize_only(HOSTILE[name][:100_000] + " it")


def summarize_only(text: str) -> None:
    messages = (
        user(text),
        assistant(text),
        Message("assistant", (ToolCall("c", "bash", json.dumps({"command": text[:2_000_000]})),)),
        Message("tool", (ToolResult("c", (Text(text),)),)),
    )
    summary = Session().say(*messages).summary(500, text[:100_000])
    assert 0 < count_text(summary) <= 500


@UNDER_ONE
def test_the_work_grows_with_the_length_of_the_conversation_and_no_faster() -> None:
    def calls(repeats: int) -> int:
        session = Session()
        # Numbers of their own: what a sentence says is remembered.
        for number in range(10_000 + repeats, 10_000 + 2 * repeats):
            session.say(user(f"Please change the function number {number} so that it returns {number}."))
            session.call("edit", "ok", path=f"src/module_{number}.py")
            session.say(assistant(f"Done, function {number} was updated because you asked for {number}."))
        request = SummaryInput((), tuple(session.messages), 2_000)
        return calls_in(lambda: summarize(request))

    assert calls(1_000) < 6 * calls(200)


CORPORA = ["pi-mono", "claude-code-spotter", "tau-bench-airline", "swe-agent", "crosswoz-zh"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs ../shared")
@pytest.mark.parametrize("name", CORPORA)
def test_real_sessions_fill_their_budget(name: str) -> None:
    for line in (CORPUS / f"{name}.jsonl").read_text().splitlines():
        wire = [message for message in json.loads(line)["messages"] if message["role"] != "system"]
        messages = tuple(FORMATS["openai"].parse(wire))
        whole = count_messages(messages)
        for max_tokens in (100, 500, 1_000):
            used = count_text(Session().say(*messages).summary(max_tokens))
            assert used <= max_tokens
            is_whole = count_text(Session().say(*messages).summary(10 * max_tokens)) == used
            assert used >= 0.7 * max_tokens or whole < 1.5 * max_tokens or is_whole
