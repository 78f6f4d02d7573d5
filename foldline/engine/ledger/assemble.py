"""Assembles the items of a path into lines: what belongs together joins, what was replaced or said again leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from foldline.engine.ledger.items import (
    ASIDE,
    FIELDS,
    FIRST,
    LATER,
    LOOKS,
    SPOKEN,
    WRITTEN_CALL,
    Item,
    ItemAt,
    ItemKind,
    Speaker,
)
from foldline.engine.ledger.reading.lines import flat, key
from foldline.engine.ledger.reading.rules import QUESTIONS
from foldline.engine.ledger.reading.specifics import Specific, specifics
from foldline.engine.ledger.replaced import MOST_READ, replaced
from foldline.engine.ledger.section_lines import ARROW, COMMAND
from foldline.engine.summaries.headings import Section

# Between a question and its answer a compaction may have its place.
NEXT: Final = 2
# A longer answer stands for itself.
ANSWER_CHARS: Final = {Speaker.USER: 50, Speaker.ASSISTANT: 120}
QUESTION_CHARS: Final = 240
# What was to be done is compared with so many of the newest calls and changes.
MOST_COMPARED: Final = 200
_SECTIONS: Final = {
    ItemKind.RULE: Section.RULES,
    ItemKind.REQUEST: Section.ASKED,
    ItemKind.PLAN: Section.OPEN,
    ItemKind.DECISION: Section.DECIDED,
    ItemKind.PREFERENCE: Section.SAID,
    ItemKind.SAID: Section.SAID,
    ItemKind.CHANGED: Section.FILES,
    ItemKind.READ: Section.FILES,
    ItemKind.CALL: Section.ENDED,
    ItemKind.FAILURE: Section.ENDED,
    ItemKind.ENDING: Section.ENDED,
}


@dataclass(slots=True)
class LedgerLine:
    """A line that may stand in a summary, with the place (seq) of its newest entry; `place` grows along the path.

    `items` are what it was made of, each with its place. A line of a story is `under` the section that its author
    chose.
    """

    item: Item
    place: int
    text: str
    items: list[ItemAt] = field(default_factory=list)
    is_failing: bool = False
    is_task: bool = False
    is_open: bool = False
    is_over: bool = False
    is_waiting: bool = False
    found: tuple[Specific, ...] = ()
    order: int = 0
    under: Section | None = None

    @property
    def section(self) -> Section:
        """The section below whose heading it stands."""
        if self.under is not None:
            return self.under
        if self.is_open or self.item.state == LATER:
            return Section.OPEN
        if self.item.kind is ItemKind.SAID and self.item.speaker is Speaker.ASSISTANT and self.item.state != ASIDE:
            return Section.DECIDED
        return _SECTIONS[self.item.kind]


class Assembled(NamedTuple):
    """The lines of a path, oldest first: those that hold, and those that later ones replaced."""

    current: list[LedgerLine]
    replaced: list[LedgerLine]


def assemble(items: Iterable[ItemAt]) -> list[LedgerLine]:
    """The lines that hold, of items along a path, each with its place; oldest first."""
    return assembled(items).current


def assembled(items: Iterable[ItemAt]) -> Assembled:
    """The lines of items along a path, each with its place."""
    placed = list(_who_spoke(items))
    lines = [*_calls(placed), *_plans(placed), *_files(placed), *_sentences(placed)]
    for line in lines:
        line.found = specifics_of(line.text)
    lines.sort(key=lambda line: line.place)
    for order, line in enumerate(lines):
        line.order = order
    _mark(lines, placed)
    _close(lines)
    gone = {*replaced(lines), *(line.order for line in lines if line.is_over)}
    return Assembled([line for line in lines if line.order not in gone], [lines[order] for order in sorted(gone)])


@lru_cache(maxsize=MOST_READ)
def specifics_of(text: str) -> tuple[Specific, ...]:
    """The specifics of a text, in order."""
    return tuple(specifics(text))


def _who_spoke(items: Iterable[ItemAt]) -> Iterator[ItemAt]:
    """The items; a message that looks like an output is one if it follows a written command, and else the user's."""
    is_run = False
    for place, group in groupby(items, key=itemgetter(0)):
        said = [item for _, item in group]
        is_output = any(item.call == WRITTEN_CALL and item.speaker is Speaker.TOOL for item in said)
        unwanted = Speaker.USER if is_run else Speaker.TOOL
        yield from ((place, item) for item in said if not is_output or item.speaker is not unwanted)
        is_run = any(item.kind is ItemKind.CALL and item.call == WRITTEN_CALL for item in said)


def _mark(lines: Sequence[LedgerLine], placed: Sequence[ItemAt]) -> None:
    """Mark the task, which is the first request, and what is open at the end: what nobody has answered yet."""
    requests = [
        line for line in lines if line.item.kind is ItemKind.REQUEST and line.item.speaker is not Speaker.ASSISTANT
    ]
    if requests:
        requests[0].is_task = True
    asked = max((place for place, item in placed if item.speaker is Speaker.USER), default=None)
    if asked is None:
        return
    # A turn has its answer when the assistant says something and calls nothing after it.
    last = next((item for place, item in reversed(placed) if place > asked), None)
    said = max(
        (line.place for line in lines if line.item.kind in SPOKEN and line.item.speaker is Speaker.ASSISTANT), default=0
    )
    answered = last is not None and last.speaker is Speaker.ASSISTANT and last.kind in SPOKEN
    for line in lines:
        item = line.item
        if item.speaker is Speaker.SUMMARY and item.state == LATER and asked > line.place:
            # Newer requests came after that summary, so what was open in it is over or was asked for again.
            # A call that waited for its result then does not wait any more.
            line.item, line.is_over = item._replace(state=""), line.text.startswith(COMMAND)
        elif item.speaker is Speaker.ASSISTANT and item.state == LATER and asked > line.place:
            line.item = item._replace(state=ASIDE)
        elif line.place >= asked and not answered:
            # Of what the assistant said on the way, only the last says where the work stands.
            is_said = item.kind is ItemKind.SAID and item.speaker is Speaker.ASSISTANT and line.place == said > asked
            line.is_open = is_said or line.is_waiting or (item.kind is ItemKind.REQUEST and line.place == asked)
        elif line.place >= asked and item.speaker is Speaker.ASSISTANT and line.text.endswith(QUESTIONS):
            line.is_open = ARROW not in line.text


def _close(lines: Sequence[LedgerLine]) -> None:
    """Close what was to be done later if all files that it names were changed since, and all its commands were run."""
    waiting = [line for line in lines if line.item.state == LATER and line.found][-MOST_COMPARED:]
    if not waiting:
        return
    failed = {line.item.call for line in lines if line.is_failing}
    done = [line for line in lines if not line.is_failing and line.item.call not in failed][-MOST_COMPARED:]
    changed = [line for line in done if line.item.kind is ItemKind.CHANGED]
    # What a command printed says nothing about what was run.
    run = [(line.place, _words_of(line.text.partition(ARROW)[0])) for line in done if line.item.kind is ItemKind.CALL]
    for line in waiting:
        paths = [found.text for found in line.found if found.form == "path"]
        commands = [_words_of(found.text) for found in line.found if found.form == "code"]
        if (paths or commands) and all(
            (
                *(any(other.place > line.place and _is_same_file(path, other) for other in changed) for path in paths),
                *(any(place > line.place and words.startswith(wanted) for place, words in run) for wanted in commands),
            )
        ):
            line.item = line.item._replace(state="")


def _words_of(command: str) -> str:
    """The words of a command, each with a space behind it."""
    return f"{flat(command.removeprefix(COMMAND))} "


def _is_same_file(path: str, changed: LedgerLine) -> bool:
    return f"/{changed.text.partition(' ')[2]}".endswith(f"/{path.removeprefix('./').lstrip('/')}")


def _calls(placed: Sequence[ItemAt]) -> Iterator[LedgerLine]:
    """A line for each different call, with its last failure and with how its last run ended."""
    runs: dict[str, _Runs] = {}
    of_call: dict[str, _Runs] = {}
    files: dict[str, str] = {}
    for place, item in placed:
        if item.kind is ItemKind.CALL:
            known = runs.setdefault(item.text.partition(ARROW)[0], _Runs(item))
            known.begin(place, item)
            of_call[item.call] = known
        elif item.kind in {ItemKind.READ, ItemKind.CHANGED}:
            files.setdefault(item.call, item.text)
        elif item.kind in {ItemKind.ENDING, ItemKind.FAILURE} and (
            item.call in of_call or item.kind is ItemKind.FAILURE
        ):
            source = Item(ItemKind.CALL, files.get(item.call, "a tool"), Speaker.TOOL, item.call, LOOKS)
            ended = of_call.get(item.call) or runs.setdefault(source.text, _Runs(source))
            ended.end(place, item)
    return (each.line() for each in runs.values() if each.ending or each.failure or each.item.call != WRITTEN_CALL)


@dataclass(slots=True)
class _Runs:
    """The runs of one command or call: when the last one was, its last failure, and how the last run ended."""

    item: Item
    place: int = 0
    begun: tuple[ItemAt, ...] = ()
    failure: tuple[ItemAt, ...] = ()
    ending: tuple[ItemAt, ...] = ()
    silent: tuple[ItemAt, ...] = ()
    is_failing: bool = False
    is_waiting: bool = True

    def begin(self, place: int, item: Item) -> None:
        self.item, self.place, self.begun = item, place, ((place, item),)
        self.ending, self.silent, self.is_failing, self.is_waiting = (), (), False, True

    def end(self, place: int, item: Item) -> None:
        # What was looked at may speak of failures, and it can be looked at again.
        self.place, self.is_waiting = place, False
        if not item.text or (self.item.state == LOOKS and item.state not in {FIRST, FIELDS}):
            self.silent = ((place, item._replace(text="")),)
            return
        if item.kind is ItemKind.FAILURE:
            self.failure, self.is_failing = ((place, item),), True
        else:
            self.ending = ((place, item),)

    def line(self) -> LedgerLine:
        parts = [*self.begun, *self.failure, *(self.ending or self.silent)]
        shown = [self.item.text, *(_quoted(item) for _, item in (*self.failure, *self.ending))]
        return LedgerLine(
            self.item,
            self.place,
            ARROW.join(shown),
            parts,
            is_failing=self.is_failing,
            is_waiting=self.is_waiting and self.item.speaker is Speaker.ASSISTANT,
        )


def _quoted(item: Item) -> str:
    """What a tool said, so that nothing in it ends the quotation."""
    return '"' + item.text.replace('"', "'") + '"'


def _plans(placed: Sequence[ItemAt]) -> Iterator[LedgerLine]:
    """The steps that are not done of each tool's newest plan, and those of earlier plans about something else."""
    plans: dict[str, list[ItemAt]] = {}
    of_tool: dict[str, list[str]] = {}
    for place, item in placed:
        if item.kind is ItemKind.PLAN:
            if not item.text:
                of_tool.setdefault(item.state, []).append(item.call)
            plans.setdefault(item.call, []).append((place, item))
    for calls in of_tool.values():
        seen: set[str] = set()
        for position, call in enumerate(reversed(calls)):
            begun, *steps = plans[call]
            keys = {key(item.text) for _, item in steps}
            if position == 0 or (keys and not keys & seen):
                for place, item in steps:
                    yield LedgerLine(item, place, item.text, [begun, (place, item)])
            seen |= keys


def _files(placed: Sequence[ItemAt]) -> Iterator[LedgerLine]:
    """A line for each file: its last change, or else its last reading."""
    lines: dict[str, LedgerLine] = {}
    for place, item in placed:
        if item.kind in {ItemKind.CHANGED, ItemKind.READ}:
            path = item.text.partition(" ")[2]
            known = lines.get(path)
            if known is None or item.kind is ItemKind.CHANGED or known.item.kind is ItemKind.READ:
                lines[path] = LedgerLine(item, place, item.text, [(place, item)])
    yield from lines.values()


def _sentences(placed: Sequence[ItemAt]) -> Iterator[LedgerLine]:
    """A line for each different sentence, at its newest place; short answers stand behind their questions."""
    lines: dict[str, LedgerLine] = {}
    said = [(place, item) for place, item in placed if item.kind in SPOKEN]
    by_place: dict[int, list[Item]] = {}
    for place, item in said:
        by_place.setdefault(place, []).append(item)
    places = list(by_place)
    answered: set[ItemAt] = set()
    for before, place in pairwise(places):
        if place - before <= NEXT and (pair := _exchange(by_place[before], by_place[place])):
            question, answer = pair
            answered |= {(before, question), (place, answer)}
            parts = [(before, question), (place, answer)]
            # A user's answer decides.
            item = answer._replace(kind=ItemKind.DECISION) if answer.speaker is Speaker.USER else question
            text = ARROW.join((question.text, answer.text))
            lines[key(text)] = LedgerLine(item, place, text, parts)
    for place, item in said:
        if (place, item) in answered:
            continue
        name = key(item.text) or item.text
        if item.speaker is not Speaker.USER and name in lines and lines[name].item.speaker is Speaker.USER:
            # Whoever repeats the user's words does not make them his own.
            continue
        is_rule = name in lines and lines[name].item.kind is ItemKind.RULE
        shown = item._replace(kind=ItemKind.RULE) if is_rule else item
        lines[name] = LedgerLine(shown, place, item.text, [(place, item)])
    return iter(lines.values())


def _exchange(before: Sequence[Item], after: Sequence[Item]) -> tuple[Item, Item] | None:
    """A question and its short answer, if one speaker's message ends with it and the other's is only that."""
    question, answer = before[-1], after[0]
    if question.speaker is answer.speaker or len(after) > 1 or Speaker.SUMMARY in {question.speaker, answer.speaker}:
        return None
    is_asked = question.text.endswith(QUESTIONS) and not answer.text.endswith(QUESTIONS)
    is_short = len(answer.text) <= ANSWER_CHARS[answer.speaker] and len(question.text) <= QUESTION_CHARS
    is_new = answer.kind in {ItemKind.RULE, ItemKind.REQUEST}
    return (question, answer) if is_asked and is_short and not is_new else None
