"""From messages to candidates: who said what, in which turn, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from compaction.extractive import cues
from compaction.extractive.activity import ARROW, BELOW, Activity, common_folder
from compaction.extractive.items import Item, is_prose, specifics
from compaction.extractive.lines import clean, lines, sentences
from compaction.messages import Message, Text, Thinking, result_text
from compaction.sections import Section

# Of one text, this many lines from its beginning and from its end are looked at, within so many characters of each.
HEAD_LINES: Final = 80
TAIL_LINES: Final = 40
WINDOW_CHARS: Final = 24_000
# A question and its answer this short share a line.
PAIR_CHARS: Final = 200
REPLY_CHARS: Final = 100
SHORT_CHARS: Final = 14
TELLING_CHARS: Final = 120
PASTED_LINES: Final = 8
ASK_HEAD: Final = 4
ASK_TAIL: Final = 2
# What an intermediate remark of the assistant may contribute.
REMARK_LINES: Final = 3
OUTCOME_LINES: Final = 40
THOUGHT_LINES: Final = 2
OPEN_TURNS: Final = 2
JOINT: Final = " / "
QUESTION: Final = ("?", "？")
ASK_CHARS: Final = 800

_PROMPT: Final = re.compile(r"\n[^\n]{0,120}[$#%>]\s*\Z")
_FENCED: Final = re.compile(r"```[a-z]{0,12}\n(?P<command>[^`]{1,4000})\n?```\s*\Z")
_BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")


@dataclass(slots=True)
class Turn:
    """A user message and what followed: the remarks of the assistant with their places."""

    order: int
    said: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    has_calls: bool = False
    is_task: bool = False
    is_answered: bool = False


@dataclass(slots=True)
class Gathering:
    """Candidates of a run of messages, in the making."""

    total: int
    knows_the_task: bool
    items: list[Item] = field(default_factory=list)
    activity: Activity = field(default_factory=Activity)
    turns: list[Turn] = field(default_factory=list)

    def add(self, section: Section, text: str, worth: float, order: int) -> None:
        """Notes a candidate."""
        self.items.append(Item(section, text, min(1.0, worth), order))

    def recency(self, order: int) -> float:
        """0 for the oldest message, 1 for the newest."""
        return order / max(1, self.total - 1)

    @property
    def turn(self) -> Turn:
        """The turn that is going on."""
        if not self.turns:
            self.turns.append(Turn(0))
        return self.turns[-1]


def gather(messages: Sequence[Message], *, knows_the_task: bool) -> Gathering:
    """What was said and done; `knows_the_task` if an earlier summary already says what was asked first."""
    gathering = Gathering(len(messages), knows_the_task)
    for order, message in enumerate(messages):
        _note(gathering, message, order)
    return gathering


def conclude(gathering: Gathering) -> list[Item]:
    """All candidates, now that it is known how each turn, command and file ended."""
    for number, turn in enumerate(gathering.turns):
        is_last = number == len(gathering.turns) - 1
        turn.is_answered |= bool(turn.remarks) and not is_last
        before = gathering.turns[number - 1] if number else None
        _close_turn(gathering, turn, before, is_last=is_last)
    _note_open(gathering)
    _note_endings(gathering)
    _note_files(gathering)
    return gathering.items


def _note(gathering: Gathering, message: Message, order: int) -> None:
    if message.result is not None:
        gathering.activity.result(message.result, order)
    elif message.role == "assistant":
        _note_assistant(gathering, message, order)
    elif message.role == "user":
        _note_user(gathering, message.text, order)
    else:
        for sentence in _scan(message.text):
            is_rule = cues.RULE(sentence)
            gathering.add(Section.RULES if is_rule else Section.SAID, sentence, 0.7 if is_rule else 0.2, order)


def _note_assistant(gathering: Gathering, message: Message, order: int) -> None:
    turn = gathering.turn
    text = message.text.strip()
    if text:
        turn.remarks.append((order, text))
    turn.is_answered = bool(text) and not message.calls
    for call in message.calls:
        turn.has_calls = True
        if thought := gathering.activity.call(call, order):
            _note_thought(gathering, thought, order)
    for part in message.parts:
        if isinstance(part, Thinking):
            _note_thought(gathering, part.text, order)


def _note_thought(gathering: Gathering, thought: str, order: int) -> None:
    found = (line for line in _scan(thought[:4_000]) if cues.DECISION(line) and not cues.NARRATION(line))
    for line in islice(found, THOUGHT_LINES):
        gathering.add(Section.SAID, line, 0.2 + 0.1 * gathering.recency(order), order)


def _note_user(gathering: Gathering, text: str, order: int) -> None:
    if command := _answered_command(gathering, text):
        gathering.activity.run(command, text, order)
        return
    turn = Turn(order)
    gathering.turns.append(turn)
    asked: list[str] = []
    for line in _windows(text):
        if cues.FAILURE.match(line):
            gathering.add(Section.ENDED, line, 0.6 + 0.25 * gathering.recency(order), order)
        elif is_prose(line):
            rules, rest = _parted(line)
            for rule in rules:
                gathering.add(Section.RULES, rule, 0.85 + 0.1 * gathering.recency(order), order)
            asked += rest
        else:
            gathering.add(Section.SAID, line, 0.1 + 0.1 * specifics(line), order)
    # Of a message with something pasted into it, the request stands at its beginning or end.
    if gathering.knows_the_task and len(asked) > PASTED_LINES:
        for line in asked[ASK_HEAD:-ASK_TAIL]:
            gathering.add(Section.SAID, line, 0.2 + 0.1 * specifics(line), order)
        asked = asked[:ASK_HEAD] + asked[-ASK_TAIL:]
    turn.said = asked
    turn.asks = [ask for ask in asked if not cues.CHATTER(ask)]
    turn.is_task = bool(turn.asks) and not gathering.knows_the_task
    gathering.knows_the_task |= turn.is_task


def _parted(line: str) -> tuple[list[str], list[str]]:
    """The rules in a line of the user, and what else it says; sentences that stand together stay together."""
    if not cues.RULE(line):
        return [], [line]
    rules: list[str] = []
    rest: list[str] = []
    for sentence in sentences(line):
        (rules if cues.RULE(sentence) else rest).append(sentence)
    return rules, rest


def _answered_command(gathering: Gathering, text: str) -> str | None:
    """The command this user message is the output of, in transcripts that have no tool calls."""
    remarks = gathering.turns[-1].remarks if gathering.turns else []
    if not remarks or not _PROMPT.search(text[-200:]):
        return None
    fenced = _FENCED.search(remarks[-1][1][-6_000:])
    return fenced["command"] if fenced else None


def _windows(text: str) -> Iterator[str]:
    """The lines of a text's beginning and end."""
    text = text if len(text) <= 2 * WINDOW_CHARS else f"{text[:WINDOW_CHARS]}\n{text[-WINDOW_CHARS:]}"
    every = list(lines(clean(text)))
    if len(every) <= HEAD_LINES + TAIL_LINES:
        return iter(every)
    return iter(every[:HEAD_LINES] + every[-TAIL_LINES:])


def _scan(text: str) -> Iterator[str]:
    """The sentences of a text that read as language, without their bullets."""
    for line in _windows(text):
        stripped = _BULLET.sub("", line, count=1)
        if stripped and is_prose(stripped):
            yield from sentences(stripped)


def _close_turn(gathering: Gathering, turn: Turn, before: Turn | None, *, is_last: bool) -> None:
    worth = 1.0 if turn.is_task else 0.9 if is_last else 0.35 + 0.3 * gathering.recency(turn.order)
    paired = _paired(turn)
    if is_last and not turn.is_answered:
        _note_asks(gathering, Section.OPEN, turn, 1.0)
    elif reply := _reply(turn, before):
        telling = 0.2 if cues.SPECIFIC.search(reply.partition(ARROW)[2]) else 0.0
        gathering.add(Section.DECIDED, reply, worth + 0.2 + telling, turn.order)
    elif paired:
        gathering.add(Section.ASKED, paired, worth + 0.15 + 0.1 * specifics(paired), turn.order)
    else:
        _note_asks(gathering, Section.ASKED, turn, worth)
    if not paired:
        _note_remarks(gathering, turn)


def _reply(turn: Turn, before: Turn | None) -> str | None:
    """The question of the assistant that this turn answers in a word or two, with the answer."""
    said = JOINT.join(turn.said)
    if before is None or not before.remarks or not 0 < len(said) <= REPLY_CHARS or said.endswith(QUESTION):
        return None
    asked = [sentence for sentence in _scan(before.remarks[-1][1][-1_000:]) if sentence.endswith(QUESTION)]
    return f"{asked[-1]}{ARROW}{said}" if asked and (turn.asks or cues.CHOICE(said)) else None


def _paired(turn: Turn) -> str | None:
    if turn.has_calls or len(turn.remarks) != 1 or len(turn.asks) != 1:
        return None
    ask, answer = turn.asks[0], turn.remarks[0][1]
    if answer.endswith(QUESTION):
        return None
    return f"{ask}{ARROW}{answer}" if max(len(ask), len(answer)) <= PAIR_CHARS and "\n" not in answer else None


def _note_asks(gathering: Gathering, section: Section, turn: Turn, worth: float) -> None:
    """The lines of one message in as few candidates as they take; each later one is worth less."""
    for number, ask in enumerate(_joined(turn.asks)):
        wish = 0.1 if cues.WISH(ask) else 0.0
        weight = 0.1 * min(1.0, len(ask) / TELLING_CHARS)
        gathering.add(section, ask, (worth + wish + weight + 0.1 * specifics(ask)) * 0.8**number, turn.order)


def _joined(asks: Iterable[str]) -> Iterator[str]:
    pending = ""
    for ask in asks:
        if pending and len(pending) + len(ask) > ASK_CHARS:
            yield pending
            pending = ask
        else:
            pending = f"{pending}{JOINT}{ask}" if pending else ask
    if pending:
        yield pending


def _note_remarks(gathering: Gathering, turn: Turn) -> None:
    for order, text in turn.remarks[:-1]:
        _note_remark(gathering, text, order)
    if not turn.remarks:
        return
    order, text = turn.remarks[-1]
    if turn.is_answered:
        _note_outcome(gathering, text, order)
    else:
        _note_remark(gathering, text, order)


def _note_remark(gathering: Gathering, text: str, order: int) -> None:
    """A remark between calls: worth something where it reports a finding."""
    for line in islice(_scan(text), REMARK_LINES):
        if cues.NARRATION(line):
            gathering.add(Section.SAID, line, 0.05 + 0.1 * gathering.recency(order), order)
        elif cues.DECISION(line) and (len(line) >= SHORT_CHARS or not line.isascii()):
            worth = 0.25 + 0.2 * gathering.recency(order) + 0.1 * specifics(line)
            gathering.add(Section.DECIDED, line, worth, order)
        else:
            gathering.add(Section.SAID, line, 0.1 + 0.1 * gathering.recency(order) + 0.1 * specifics(line), order)


def _note_outcome(gathering: Gathering, text: str, order: int) -> None:
    """The last word of a turn: what came of it."""
    weight = 1.0
    for line in islice(_windows(text), OUTCOME_LINES):
        stripped = _BULLET.sub("", line, count=1).strip("#* ")
        if not stripped or cues.CHATTER(stripped):
            continue
        is_narration = cues.NARRATION(stripped)
        settles = 0.15 if cues.DECISION(stripped) else 0.0
        worth = 0.4 + 0.25 * gathering.recency(order) + settles + 0.1 * specifics(stripped) - 0.2 * is_narration
        if stripped.endswith(":") or (len(stripped) < SHORT_CHARS and stripped.isascii()):
            worth *= 0.6
        section = Section.DECIDED if is_prose(stripped) or settles else Section.SAID
        gathering.add(section, stripped, worth * weight, order)
        weight *= 0.93


def _note_open(gathering: Gathering) -> None:
    """Questions and next steps of the last turns; and what was going on, if the last turn was not finished."""
    for turn in gathering.turns[-OPEN_TURNS:]:
        if not turn.remarks:
            continue
        order, text = turn.remarks[-1]
        is_end = turn is gathering.turns[-1]
        for sentence in _scan(text[-4_000:]):
            if cues.OPEN(sentence):
                gathering.add(Section.OPEN, sentence, 0.85 if is_end else 0.5, order)
        if is_end and not turn.is_answered:
            for sentence in islice(_scan(text), 1):
                gathering.add(Section.OPEN, sentence, 0.8, order)
    for ending in gathering.activity.waiting.values():
        if ending.order < gathering.turn.order:
            continue
        gathering.add(Section.OPEN, ending.shown, 0.6, ending.order)


def _note_endings(gathering: Gathering) -> None:
    for ending in gathering.activity.endings.values():
        if ending.is_file and not ending.is_failing:
            continue
        if not ending.failure and not ending.outcome:
            continue
        worth = 0.75 if ending.is_failing else 0.25 if ending.is_looking else 0.4 + 0.1 * bool(ending.failure)
        gathering.add(Section.ENDED, ending.line, worth + 0.25 * gathering.recency(ending.order), ending.order)


def _note_files(gathering: Gathering) -> None:
    files = gathering.activity.files
    folder = common_folder(files)
    if folder:
        gathering.add(Section.FILES, f"{BELOW} {folder}", 0.9, min(file.order for file in files.values()) - 1)
    for path, file in files.items():
        verb = "changed" if file.is_changed else "read"
        worth = (0.6 if file.is_changed else 0.25) + 0.2 * gathering.recency(file.order) + 0.02 * min(10, file.times)
        gathering.add(Section.FILES, f"{verb} {path.removeprefix(folder)}", worth, file.order)


def leftovers(messages: Sequence[Message], chars: int) -> Iterator[Item]:
    """Other lines of what was said and returned, newest message first, up to about `chars` characters in all.

    They fill a budget that the conversation's turns do not need.
    """
    texts = [(order, text) for order in range(len(messages) - 1, -1, -1) for text in _texts(messages[order])]
    each = max(1_000, chars // max(1, len(texts)))
    for order, text in texts:
        worth = 0.02 + 0.06 * order / len(messages)
        for line in lines(clean(text[:each])):
            yield from (Item(Section.SAID, sentence, worth, order) for sentence in sentences(line))
        chars -= min(each, len(text))
        if chars <= 0:
            return


def _texts(message: Message) -> list[str]:
    texts = [part.text for part in message.parts if isinstance(part, Text | Thinking)]
    return [*texts, result_text(message.result)] if message.result else texts
