"""Collects turns from messages: the user's lines, the assistant's remarks, and the activity of its calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from foldline.engine import wording
from foldline.engine.messages import Message, Text, Thinking
from foldline.engine.summaries.extractive import cues
from foldline.engine.summaries.extractive.activity import Activity
from foldline.engine.summaries.extractive.items import Item
from foldline.engine.summaries.extractive.lines import sentences
from foldline.engine.summaries.extractive.prose import is_prose, scan, specifics, windows
from foldline.engine.summaries.headings import Section

# A user message with more lines probably quotes something; then only its first and last lines are the request.
PASTED_LINES: Final = 8
REQUEST_HEAD: Final = 4
REQUEST_TAIL: Final = 2
THOUGHT_LINES: Final = 2
THOUGHT_CHARS: Final = 4_000

_PROMPT: Final = re.compile(r"\n[^\n]{0,120}[$#%>]\s*\Z")
_FENCED: Final = re.compile(r"```[a-z]{0,12}\n(?P<command>[^`]{1,4000})\n?```\s*\Z")


@dataclass(slots=True)
class Turn:
    """A user message and the assistant's remarks after it; `order` is the index of a message.

    `said` are the user's lines, `requests` those that are not chatter. `remarks` are pairs of order and text.
    """

    order: int
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    has_calls: bool = False
    is_task: bool = False
    is_answered: bool = False


@dataclass(slots=True)
class Collected:
    """The turns, activity and first candidates of `total` messages.

    `knows_the_task`: the first request is known from an earlier summary or turn. `goes_on`: the rest of the last turn
    is not among the messages.
    """

    total: int
    knows_the_task: bool
    goes_on: bool = False
    items: list[Item] = field(default_factory=list)
    activity: Activity = field(default_factory=Activity)
    turns: list[Turn] = field(default_factory=list)

    def add(self, section: Section, text: str, worth: float, order: int) -> None:
        """Add a candidate."""
        self.items.append(Item(section, text, min(1.0, worth), order))

    def recency(self, order: int) -> float:
        """0 for the oldest message, 1 for the newest."""
        return order / max(1, self.total - 1)

    @property
    def turn(self) -> Turn:
        """The last turn."""
        if not self.turns:
            self.turns.append(Turn(0))
        return self.turns[-1]


def collect(messages: Sequence[Message], *, knows_the_task: bool, goes_on: bool = False) -> Collected:
    """The turns and activity of these messages; `knows_the_task` if an earlier summary has the first request."""
    collected = Collected(len(messages), knows_the_task, goes_on)
    for order, message in enumerate(messages):
        _note(collected, message, order)
    return collected


def _note(collected: Collected, message: Message, order: int) -> None:
    if message.result is not None:
        collected.activity.result(message.result, order)
    elif message.role == "assistant":
        _note_assistant(collected, message, order)
    elif message.role == "user":
        _note_user(collected, message.text, order)
    else:
        for sentence in scan(_without_frame(message)):
            is_rule = cues.RULE(sentence)
            collected.add(Section.RULES if is_rule else Section.SAID, sentence, 0.7 if is_rule else 0.2, order)


def _without_frame(message: Message) -> str:
    """The text of a message, without Foldline's line above the summary of a branch."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text != wording.BRANCH)


def _note_assistant(collected: Collected, message: Message, order: int) -> None:
    turn = collected.turn
    text = message.text.strip()
    if text:
        turn.remarks.append((order, text))
    if text or message.calls:
        turn.is_answered = not message.calls
    for call in message.calls:
        turn.has_calls = True
        if thought := collected.activity.call(call, order):
            _note_thought(collected, thought, order)
    for part in message.parts:
        if isinstance(part, Thinking):
            _note_thought(collected, part.text, order)


def _note_thought(collected: Collected, thought: str, order: int) -> None:
    found = (line for line in scan(thought[:THOUGHT_CHARS]) if cues.DECISION(line) and not cues.NARRATION(line))
    for line in islice(found, THOUGHT_LINES):
        collected.add(Section.SAID, line, 0.2 + 0.1 * collected.recency(order), order)


def _note_user(collected: Collected, text: str, order: int) -> None:
    if command := _answered_command(collected, text):
        collected.activity.run(command, text, order)
        return
    turn = Turn(order)
    collected.turns.append(turn)
    turn.said = _request_lines(collected, _sorted_out(collected, text, order), order)
    turn.requests = [request for request in turn.said if not cues.CHATTER(request)]
    turn.is_task = bool(turn.requests) and not collected.knows_the_task
    collected.knows_the_task |= turn.is_task


def _sorted_out(collected: Collected, text: str, order: int) -> list[str]:
    """The lines of a user message, except for rules, failures and text that is no language; these become candidates."""
    said: list[str] = []
    for line in windows(text):
        if cues.FAILURE.match(line):
            collected.add(Section.ENDED, line, 0.6 + 0.25 * collected.recency(order), order)
        elif is_prose(line):
            rules, rest = _parted(line)
            said += rest
            for rule in rules:
                collected.add(Section.RULES, rule, 0.85 + 0.1 * collected.recency(order), order)
        else:
            collected.add(Section.SAID, line, 0.1 + 0.1 * specifics(line), order)
    return said


def _request_lines(collected: Collected, said: list[str], order: int) -> list[str]:
    """The lines of a request: all of the task; of a message that quotes at length, its beginning and its end."""
    if not collected.knows_the_task or len(said) <= PASTED_LINES:
        return said
    for line in said[REQUEST_HEAD:-REQUEST_TAIL]:
        collected.add(Section.SAID, line, 0.2 + 0.1 * specifics(line), order)
    return said[:REQUEST_HEAD] + said[-REQUEST_TAIL:]


def _parted(line: str) -> tuple[list[str], list[str]]:
    """The rules in a line of the user, and the rest of it. A line without a rule is not split into sentences."""
    if not cues.RULE(line):
        return [], [line]
    rules: list[str] = []
    rest: list[str] = []
    for sentence in sentences(line):
        (rules if cues.RULE(sentence) else rest).append(sentence)
    return rules, rest


def _answered_command(collected: Collected, text: str) -> str | None:
    """The command whose output this user message is, in transcripts without tool calls; None if it is no output."""
    remarks = collected.turns[-1].remarks if collected.turns else []
    if not remarks or not _PROMPT.search(text[-200:]):
        return None
    fenced = _FENCED.search(remarks[-1][1][-6_000:])
    return fenced["command"] if fenced else None
