"""From earlier summaries to candidates: their lines, in the sections they stood in or seem to belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from foldline.engine.summaries.extractive.activity import ARROW, BELOW, BESIDE, ROOTS, Activity
from foldline.engine.summaries.extractive.items import Item
from foldline.engine.summaries.extractive.lines import ELLIPSIS, clean, key, lines
from foldline.engine.summaries.extractive.prose import specifics
from foldline.engine.summaries.extractive.section_lines import CONTENTS, FILE, Content
from foldline.engine.summaries.headings import Section

_HEADING: Final = re.compile(
    r"^(?:#{1,6}\s+(?P<marked>.{1,80}?)\s*:?|\*\*(?P<bold>.{1,80}?):?\*\*:?|(?P<plain>\w[\w &,/-]{1,40}):)$"
)
_BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
# What is asked, decided and so on under other names than those known; the first that matches counts.
_NAMES: Final = tuple(
    (section, re.compile(names, re.IGNORECASE))
    for section, names in (
        (Section.RULES, "rule|constraint|preference|limit|requirement|约束|规则|限制|偏好|要求"),
        (Section.OPEN, "open|todo|to do|next|pending|remain|current|in progress|待|下一步|未完|进行"),
        (Section.FILES, "file|文件"),
        (Section.ENDED, "error|command|test|fix|problem|错误|命令|问题"),
        (Section.ASKED, "ask|goal|request|intent|objective|user message|请求|目标|任务|需求"),
        (Section.DECIDED, "deci|done|progress|complete|finding|决定|完成|进展|结论"),
    )
)
# What stands under no heading, or under one that says nothing.
_UNTITLED: Final = Content(Section.DECIDED, frozenset({Section.RULES, Section.OPEN}))

# What a line of an earlier summary is worth: rules, decisions and the task outlive many rounds, chatter does not.
_WORTH: Final = {
    Section.RULES: 0.95,
    Section.ASKED: 0.55,
    Section.DECIDED: 0.62,
    Section.OPEN: 0.6,
    Section.ENDED: 0.35,
    Section.FILES: 0.5,
    Section.SAID: 0.2,
}
STALE_OPEN: Final = 0.3
TASK: Final = 1.0
MOST_LINES: Final = 4_000


def earlier_items(previous: Sequence[str], activity: Activity, *, is_continued: bool) -> list[Item]:
    """Candidates from the earlier summaries, oldest first, with negative places; files go to `activity`.

    `is_continued` if there are newer turns, by which what was open is out of date.
    """
    found = [line for text in previous for line in _sectioned(text)][-MOST_LINES:]
    items: list[Item] = []
    ran = {key(shown) for shown in activity.endings}
    for order, (section, text, folder) in enumerate(found, -len(found)):
        if section is Section.FILES and (match := FILE.match(text)):
            _note_file(activity, match, folder, order)
        elif section is not Section.ENDED or key(text.partition(ARROW)[0]) not in ran:
            items.append(_item(section, text, order, is_continued=is_continued))
    _keep_the_task(items)
    return items


def _note_file(activity: Activity, line: re.Match[str], folder: str, order: int) -> None:
    """Notes a line of the files, whose path may be below the folder."""
    path = line["path"]
    if path.endswith(ELLIPSIS):
        return
    if folder and not path.startswith(ROOTS):
        path = path.removeprefix(BESIDE) if path.startswith(BESIDE) else f"{folder}{path}"
    activity.touch(path, order, is_changed=line["verb"] == "changed")


class _EarlierLine(NamedTuple):
    """A line of an earlier summary, and the folder that its path is relative to if it names a file."""

    section: Section
    text: str
    folder: str


def _sectioned(text: str) -> Iterator[_EarlierLine]:
    content: Content | None = None
    folder = ""
    for line in lines(clean(text)):
        if heading := _HEADING.match(line):
            content = _content(heading["marked"] or heading["bold"] or heading["plain"])
            # One summary may list files twice: those at the beginning of a turn are below a folder of their own.
            folder = ""
        elif stripped := _BULLET.sub("", line, count=1):
            section, said = content.read(stripped) if content else (_UNTITLED.looked_at(stripped), stripped)
            match = FILE.match(said) if section is Section.FILES else None
            if match and match["verb"] == BELOW:
                folder = match["path"]
            else:
                yield _EarlierLine(section, said, folder)


def _content(heading: str) -> Content | None:
    named = (Content(section) for section, names in _NAMES if names.search(heading))
    return CONTENTS.get(heading.casefold()) or next(named, None)


def _item(section: Section, text: str, order: int, *, is_continued: bool) -> Item:
    if section is Section.OPEN and is_continued:
        return Item(Section.ASKED, text, STALE_OPEN, order)
    return Item(section, text, _WORTH[section] + 0.03 * specifics(text), order)


def _keep_the_task(items: list[Item]) -> None:
    first = next((item for item in items if item.section is Section.ASKED), None)
    if first is not None:
        first.worth = TASK
