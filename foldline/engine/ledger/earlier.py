"""The items of a summary's text: one of an earlier version or of another program, or that of a branch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from foldline.engine import wording
from foldline.engine.ledger.items import LATER, Item, ItemKind, Speaker
from foldline.engine.ledger.reading.lines import clean, lines
from foldline.engine.ledger.section_lines import CONTENTS, FILE, Content
from foldline.engine.summaries.headings import Section

_HEADING: Final = re.compile(
    r"^(?:#{1,6}\s+(?P<marked>.{1,80}?)\s{0,8}:?|\*\*(?P<bold>.{1,80}?):?\*\*:?|(?P<plain>\w[\w &,/-]{1,40}):)$"
)
_BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
# Words of unknown headings that show the section below them; the first match counts.
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
_UNTITLED: Final = Content(Section.DECIDED, frozenset({Section.RULES, Section.OPEN}))
# What a summary says below a heading becomes an item of this kind and state.
_KINDS: Final = {
    Section.RULES: (ItemKind.RULE, ""),
    Section.ASKED: (ItemKind.REQUEST, ""),
    Section.DECIDED: (ItemKind.DECISION, ""),
    Section.OPEN: (ItemKind.REQUEST, LATER),
    Section.ENDED: (ItemKind.CALL, ""),
    Section.FILES: (ItemKind.SAID, ""),
    Section.SAID: (ItemKind.SAID, ""),
}
# Version 0.1 wrote paths below a folder that it named once.
BELOW: Final = "below"
BESIDE: Final = "./"
ROOTS: Final = ("/", "~")
_FRAMES: Final = frozenset({wording.SUMMARY, wording.BRANCH})
MOST_LINES: Final = 2_000


def earlier_items(text: str) -> Iterator[Item]:
    """The items of a summary's text, by the headings above its lines."""
    content: Content | None = None
    folder = ""
    for line in islice(_without_code(text), MOST_LINES):
        stripped = _BULLET.sub("", line, count=1)
        if heading := _HEADING.match(line) or _HEADING.match(stripped):
            content, folder = _content(heading["marked"] or heading["bold"] or heading["plain"]), ""
            continue
        section, said = content.read(stripped) if content else (_UNTITLED.looked_at(stripped), stripped)
        said = said.strip()
        file = FILE.match(said) if section is Section.FILES else None
        if file and file["verb"] == BELOW:
            folder = file["path"]
        elif file:
            kind = ItemKind.READ if file["verb"] == "read" else ItemKind.CHANGED
            yield Item(kind, f"{file['verb']} {_whole_path(folder, file['path'])}", Speaker.SUMMARY)
        elif said:
            kind, state = _KINDS[section]
            yield Item(kind, said, Speaker.SUMMARY, "", state)


def _without_code(text: str) -> Iterator[str]:
    is_code = False
    for line in lines(clean(text)):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and line not in _FRAMES:
            yield line


def _whole_path(folder: str, path: str) -> str:
    if path.startswith(ROOTS):
        return path
    return path.removeprefix(BESIDE) if path.startswith(BESIDE) else f"{folder}{path}"


def _content(heading: str) -> Content | None:
    named = (Content(section) for section, names in _NAMES if names.search(heading))
    return CONTENTS.get(heading.casefold()) or next(named, None)
