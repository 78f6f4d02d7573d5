"""Any conversation, any earlier summaries, any budget: the extractive summary fits, says something, invents nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from foldline.engine.ledger.reading.lines import clean, key
from foldline.engine.messages import Message, Text, Thinking, ToolCall, ToolResult
from foldline.engine.summaries.extractive import extract, summarize
from foldline.engine.summaries.headings import HEADINGS, TURN, Section
from foldline.engine.summaries.prompt import TURN_BEGINS, SummaryInput, divided, joined
from foldline.engine.summaries.transcript import excerpt_to_tokens
from foldline.engine.tokens.counter import count_text
from tests.support.taken_over import taken_over

LEAST_TOKENS = 8
# More tokens than any generated input has.
ROOMY_TOKENS = 50_000
WORDS = [
    *(
        "must",
        "never",
        "only",
        "fix",
        "the",
        "parser",
        "because",
        "error:",
        "failed",
        "src/app.py",
        "42",
        "done.",
        "todo?",
    ),
    *(
        "yes",
        "let",
        "me",
        "check",
        "不要",
        "必须",
        "好的。",
        "要",
        "使用",
        "✅",
        "👨‍👩‍👧‍👦",
        "é",
        "```",
        "-",
        "##",
        "|",
        "→",
        "/",
    ),
    *("$", ">", "{", "}", "\\", "\ud800", "## Files", "## Progress", "rule:", "said: ", "\x1b[31m", "\x00"),
]

phrases = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
texts = st.one_of(phrases, st.text(max_size=200), st.lists(phrases, max_size=12).map("\n".join))
names = st.sampled_from(["bash", "read", "edit", "think", "apply_patch", "get_user", "str_replace_editor"])
arguments = st.one_of(
    texts,
    st.fixed_dictionaries({"path": texts, "command": texts}).map(json.dumps),
    st.fixed_dictionaries({"thought": texts}).map(json.dumps),
)
ids = st.sampled_from(["a", "b", "c"])
messages = st.one_of(
    texts.map(lambda text: Message("user", (Text(text),))),
    texts.map(lambda text: Message("developer", (Text(text),))),
    st.builds(lambda text, thought: Message("assistant", (Thinking(thought), Text(text))), texts, texts),
    st.builds(lambda *call: Message("assistant", (ToolCall(*call),)), ids, names, arguments),
    st.builds(lambda call, text: Message("tool", (ToolResult(call, (Text(text),)),)), ids, texts),
)
requests = st.builds(
    SummaryInput,
    previous=st.lists(texts, max_size=2).map(tuple),
    messages=st.lists(messages, max_size=25).map(tuple),
    max_tokens=st.integers(LEAST_TOKENS, 600),
    instructions=st.none(),
    headings=st.sampled_from(sorted(HEADINGS)),
    turn_prefix=st.one_of(st.just(()), st.lists(messages, max_size=12).map(tuple)),
)
# Prefixes that the summarizer may put in front of a line.
MARKS = re.compile(rf"^- (?:(?:{'|'.join(section.value for section in Section)}): )?")


@given(requests)
def test_it_fits_its_budget_and_is_not_empty(request: SummaryInput) -> None:
    summary = summarize(request)
    assert summary.strip()
    assert count_text(summary) <= request.max_tokens


@given(requests)
def test_it_is_deterministic(request: SummaryInput) -> None:
    assert summarize(request) == summarize(request)


@given(requests, requests)
def test_it_can_be_summarized_again(first: SummaryInput, second: SummaryInput) -> None:
    later = replace(second, previous=(summarize(first),))
    assert 0 < count_text(summarize(later)) <= second.max_tokens


@given(requests)
@example(SummaryInput((), (Message("assistant", (ToolCall("a", "edit", '{"path": "\\r"}'),)),), LEAST_TOKENS))
@example(
    SummaryInput(
        (),
        (Message("assistant", (ToolCall("a", "get_user", '{"0":"","1":"0"}'),)),),
        LEAST_TOKENS,
        headings="agent-code",
    )
)
@example(
    SummaryInput(
        (),
        (
            Message("assistant", (ToolCall("a", "get_user", "must"),)),
            Message("tool", (ToolResult("a", (Text(""),)),)),
        ),
        LEAST_TOKENS + 1,
        headings="agent-code",
    )
)
def test_every_line_is_taken_from_the_originals(request: SummaryInput) -> None:
    reported = squeezed(" ".join(everything(request)))
    in_use = (*HEADINGS[request.headings], *HEADINGS[TURN])
    headings = {TURN_BEGINS, *(line for heading in in_use for line in heading.lines)}
    for line in summarize(request).split("\n"):
        if line in headings or re.fullmatch(r"- \(\d+ older rules did not fit\.\)", line):
            continue
        for piece in re.split(r' → |"|=|, |/|…|^\$ |^(?:changed|created|deleted|read) ', MARKS.sub("", line)):
            assert squeezed(piece) in reported or is_own(piece, line)


@given(requests, st.sampled_from(sorted(HEADINGS)))
def test_a_summary_says_the_same_under_whatever_headings(request: SummaryInput, other: str) -> None:
    roomy = replace(request, max_tokens=ROOMY_TOKENS)
    one, two = (summarize(replace(roomy, headings=headings)) for headings in (request.headings, other))
    assert lines_in(one) == lines_in(two)


@given(requests)
def test_all_pieces_of_a_summary_are_found_again_in_it(request: SummaryInput) -> None:
    pieces = divided(replace(request, max_tokens=ROOMY_TOKENS))
    texts = [extract(piece) for piece in pieces]
    summary = joined(pieces, texts)
    reported = squeezed(summarize(SummaryInput((summary,), (), ROOMY_TOKENS))).casefold()
    assert [text for _, text in taken_over(summary) if key(text) not in reported] == []


def lines_in(summary: str) -> set[str]:
    """The lines of a summary without headings and marks, which the originals may have too."""
    marked = re.compile(rf"^- (?:(?:{'|'.join(section.value for section in Section)}): *)*")
    return {marked.sub("", line).strip() for line in summary.split("\n") if line.startswith("- ")}


@given(requests, st.lists(st.text(), min_size=2, max_size=2))
def test_pieces_within_their_tokens_are_a_whole_within_its(request: SummaryInput, written: list[str]) -> None:
    pieces = divided(request)
    texts = [excerpt_to_tokens(text.strip(), piece.max_tokens) for piece, text in zip(pieces, written, strict=False)]
    assert count_text(joined(pieces, texts)) <= request.max_tokens


OWN_WORDS = {"(nothing was said)", "$", "a tool"}


def is_own(piece: str, line: str) -> bool:
    """Whether this is a text of the summarizer's own, whole or cut to fit the budget."""
    is_cut = f"{piece}…" in line
    return any(piece == words or (is_cut and words.startswith(piece)) for words in OWN_WORDS)


def everything(request: SummaryInput) -> list[str]:
    """All texts of the input; of arguments, also their names and values."""
    said = list(request.previous)
    for message in request.said:
        for part in message.parts:
            match part:
                case Text(text=text) | Thinking(text=text):
                    said.append(text)
                case ToolCall(name=name):
                    said += (f"{name} {argument}" for argument in (part.arguments, *names_and_values(part.arguments)))
                case ToolResult():
                    said += (piece.text for piece in part.content if isinstance(piece, Text))
    return said


def names_and_values(arguments: str) -> list[str]:
    """The names and values in JSON arguments, as text: a line may leave out those before them that say nothing."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return []
    return [str(item) for pair in value.items() for item in pair] if isinstance(value, dict) else []


def squeezed(text: str) -> str:
    """The text without the characters that cleaning, cutting and joining may remove."""
    return "".join(character for character in clean(text) if character.isalnum())
