"""From what was said and done to candidates, now that it is known how each turn, command and file ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from foldline.engine.summaries.extractive import cues
from foldline.engine.summaries.extractive.activity import ARROW, BELOW, BESIDE, ROOTS, common_folder
from foldline.engine.summaries.extractive.collect import Collected, Turn
from foldline.engine.summaries.extractive.items import Item
from foldline.engine.summaries.extractive.prose import BULLET, is_prose, scan, specifics, windows
from foldline.engine.summaries.headings import Section

# A question and its answer this short share a line.
PAIR_CHARS: Final = 200
REPLY_CHARS: Final = 100
# A remark shorter than this says little, one as long as that has substance.
SHORT_CHARS: Final = 14
SUBSTANTIAL_CHARS: Final = 120
# How much of what the assistant says is looked at: of a remark between calls, of the last word of a turn.
REMARK_LINES: Final = 3
OUTCOME_LINES: Final = 40
OPEN_TURNS: Final = 2
OPEN_CHARS: Final = 4_000
REQUEST_CHARS: Final = 800
# The name of a folder may take so many characters for each token of the budget.
FOLDER_CHARS_PER_TOKEN: Final = 0.125
JOINT: Final = " / "
QUESTION: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")


def candidates_of(collected: Collected, max_tokens: int) -> list[Item]:
    """All candidates for a summary of `max_tokens`."""
    for number, turn in enumerate(collected.turns):
        is_last = number == len(collected.turns) - 1
        turn.is_answered |= bool(turn.remarks) and not is_last
        before = collected.turns[number - 1] if number else None
        _close_turn(collected, turn, before, is_last=is_last)
    _note_open(collected)
    _note_endings(collected)
    _note_files(collected, int(max_tokens * FOLDER_CHARS_PER_TOKEN))
    return collected.items


def _close_turn(collected: Collected, turn: Turn, before: Turn | None, *, is_last: bool) -> None:
    worth = 1.0 if turn.is_task else 0.9 if is_last else 0.35 + 0.3 * collected.recency(turn.order)
    reply = _reply(turn, before)
    if is_last and not turn.is_answered:
        _note_pending(collected, turn, reply)
    elif reply:
        substance = 0.35 if cues.SPECIFIC.search(reply.partition(ARROW)[2]) else 0.0
        collected.add(Section.DECIDED, reply, worth + 0.2 + substance, turn.order)
    elif paired := _paired(turn):
        collected.add(Section.ASKED, paired, worth + 0.15 + 0.1 * specifics(paired), turn.order)
        return
    else:
        _note_requests(collected, Section.ASKED, turn, worth)
    _note_remarks(collected, turn)


def _note_pending(collected: Collected, turn: Turn, reply: str | None) -> None:
    # Whether a turn that goes on was ever answered is seen in its rest.
    section = Section.ASKED if collected.goes_on else Section.OPEN
    if reply:
        collected.add(section, reply, 1.0, turn.order)
    else:
        _note_requests(collected, section, turn, 1.0)


def _reply(turn: Turn, before: Turn | None) -> str | None:
    """The question of the assistant that this turn answers in a word or two, with the answer."""
    said = JOINT.join(turn.said)
    if before is None or not before.remarks or not 0 < len(said) <= REPLY_CHARS or said.endswith(QUESTION):
        return None
    asked = [sentence for sentence in scan(before.remarks[-1][1][-1_000:]) if sentence.endswith(QUESTION)]
    return f"{asked[-1]}{ARROW}{said}" if asked and (turn.requests or cues.CHOICE(said)) else None


def _paired(turn: Turn) -> str | None:
    if turn.has_calls or len(turn.remarks) != 1 or len(turn.requests) != 1:
        return None
    request, answer = turn.requests[0], turn.remarks[0][1]
    if answer.endswith(QUESTION):
        return None
    return f"{request}{ARROW}{answer}" if max(len(request), len(answer)) <= PAIR_CHARS and "\n" not in answer else None


def _note_requests(collected: Collected, section: Section, turn: Turn, worth: float) -> None:
    """The lines of one message in as few candidates as they take; each later one is worth less."""
    for number, request in enumerate(_joined(turn.requests)):
        preference = 0.1 if cues.PREFERENCE(request) else 0.0
        weight = 0.1 * min(1.0, len(request) / SUBSTANTIAL_CHARS)
        collected.add(
            section, request, (worth + preference + weight + 0.1 * specifics(request)) * 0.8**number, turn.order
        )


def _joined(requests: Iterable[str]) -> Iterator[str]:
    pending = ""
    for request in requests:
        if pending and len(pending) + len(request) > REQUEST_CHARS:
            yield pending
            pending = request
        else:
            pending = f"{pending}{JOINT}{request}" if pending else request
    if pending:
        yield pending


def _note_remarks(collected: Collected, turn: Turn) -> None:
    for order, text in turn.remarks[:-1]:
        _note_remark(collected, text, order)
    if not turn.remarks:
        return
    order, text = turn.remarks[-1]
    if turn.is_answered:
        _note_outcome(collected, text, order)
    else:
        _note_remark(collected, text, order)


def _note_remark(collected: Collected, text: str, order: int) -> None:
    """A remark between calls: worth something where it reports a finding."""
    for line in islice(scan(text), REMARK_LINES):
        if cues.NARRATION(line):
            collected.add(Section.SAID, line, 0.05 + 0.1 * collected.recency(order), order)
        elif cues.DECISION(line) and (len(line) >= SHORT_CHARS or not line.isascii()):
            worth = 0.25 + 0.2 * collected.recency(order) + 0.1 * specifics(line)
            collected.add(Section.DECIDED, line, worth, order)
        else:
            collected.add(Section.SAID, line, 0.1 + 0.1 * collected.recency(order) + 0.1 * specifics(line), order)


def _note_outcome(collected: Collected, text: str, order: int) -> None:
    """The last word of a turn: what came of it."""
    weight = 1.0
    for line in islice(windows(text), OUTCOME_LINES):
        stripped = BULLET.sub("", line, count=1).lstrip("# ")
        if not stripped or cues.CHATTER(stripped):
            continue
        is_narration = cues.NARRATION(stripped)
        settles = 0.15 if cues.DECISION(stripped) else 0.0
        worth = 0.4 + 0.25 * collected.recency(order) + settles + 0.1 * specifics(stripped) - 0.2 * is_narration
        if stripped.endswith(":") or (len(stripped) < SHORT_CHARS and stripped.isascii()):
            worth *= 0.6
        section = Section.DECIDED if is_prose(stripped) or settles else Section.SAID
        collected.add(section, stripped, worth * weight, order)
        weight *= 0.93


def _note_open(collected: Collected) -> None:
    """Questions and next steps of the last turns; and what was going on, if the last turn was not finished."""
    for turn in collected.turns[-OPEN_TURNS:]:
        if turn.remarks:
            _note_open_remark(collected, turn, is_end=turn is collected.turns[-1])
    for ending in collected.activity.waiting.values():
        # A call of an earlier turn that never got a result is waited for no more.
        if ending.is_known and ending.order >= collected.turn.order:
            collected.add(Section.OPEN, ending.shown, 0.6, ending.order)


def _note_open_remark(collected: Collected, turn: Turn, *, is_end: bool) -> None:
    order, text = turn.remarks[-1]
    for sentence in scan(text[-OPEN_CHARS:]):
        # A question of an earlier turn had its answer.
        if cues.OPEN(sentence) and (is_end or not sentence.endswith(QUESTION)):
            collected.add(Section.OPEN, sentence, 0.85 if is_end else 0.5, order)
    if is_end and not turn.is_answered:
        for sentence in islice((said for said in scan(text) if not cues.CHATTER(said)), 1):
            collected.add(Section.OPEN, sentence, 0.8, order)


def _note_endings(collected: Collected) -> None:
    for ending in collected.activity.endings.values():
        if ending.is_file and not ending.is_failing:
            continue
        if not ending.is_known or not (ending.failure or ending.outcome):
            continue
        worth = 0.75 if ending.is_failing else 0.25 if ending.is_looking else 0.4 + 0.1 * bool(ending.failure)
        collected.add(Section.ENDED, ending.line, worth + 0.25 * collected.recency(ending.order), ending.order)


def _note_files(collected: Collected, folder_chars: int) -> None:
    files = collected.activity.files
    folder = common_folder(files)
    if len(folder) > folder_chars:
        folder = ""
    if folder:
        collected.add(Section.FILES, f"{BELOW} {folder}", 0.9, min(file.order for file in files.values()) - 1)
    for path, file in files.items():
        verb = "changed" if file.is_changed else "read"
        worth = (0.6 if file.is_changed else 0.25) + 0.2 * collected.recency(file.order) + 0.02 * min(10, file.times)
        collected.add(Section.FILES, f"{verb} {_below(folder, path)}", worth, file.order)


def _below(folder: str, path: str) -> str:
    """A path as it stands below a folder; all are below the empty one."""
    if path.startswith(folder):
        return path.removeprefix(folder)
    return path if path.startswith(ROOTS) else f"{BESIDE}{path}"
