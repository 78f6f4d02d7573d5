"""The items of a summary's text: one of an earlier version or of another program, or that of a branch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final

from foldline.engine import wording
from foldline.engine.ledger.items import LATER, Item, ItemKind, Speaker
from foldline.engine.ledger.reading.lines import clean, lines
from foldline.engine.ledger.section_lines import ARROW, CONTENTS, FILE, Content
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
# The tags that Gemini CLI and pi write around what other summaries have below headings, and around all of it.
_TAGGED: Final[Mapping[str, Content | None]] = MappingProxyType(
    {
        "overall_goal": Content(Section.ASKED),
        "active_constraints": Content(Section.RULES),
        "key_knowledge": None,
        "artifact_trail": Content(Section.FILES),
        "file_system_state": Content(Section.FILES),
        "recent_actions": Content(Section.DECIDED),
        "current_plan": Content(Section.OPEN),
        "task_state": Content(Section.OPEN),
        "read-files": Content(Section.FILES),
        "modified-files": Content(Section.FILES),
        **dict.fromkeys(("state_snapshot", "compressed_chat_history", "conversation_summary", "summary", "analysis")),
    }
)
_TAG: Final = re.compile(rf"<(?P<end>/?)(?P<name>{'|'.join(_TAGGED)})>")
# Within a line, a tag is quoted.
_EDGE_TAG: Final = re.compile(rf"^[ \t]*<(?:{'|'.join(_TAGGED)})>|</(?:{'|'.join(_TAGGED)})>[ \t]*$", re.MULTILINE)
# The verbs of paths that stand alone below these tags.
_LISTED: Final = MappingProxyType({"read-files": "read", "modified-files": "changed"})
_DONE: Final = re.compile(r"^\[DONE\]\s+")
# How summaries of Claude Code, Codex and pi begin, and how those of Claude Code end: nothing was said there.
AROUND: Final = (
    r"This session is being continued from a previous conversation",
    r"Another language model started to solve this problem",
    r"The conversation history before this point was compacted",
    r"The following is a summary of a branch",
)
_AROUND: Final = re.compile(
    "|".join(
        (*AROUND, "(?:Please c|C)ontinue the conversation from where (?:we|it) left", "If you need specific details")
    )
)
# What a tool said stands behind its call, also where no heading shows that.
_QUOTED: Final = f'{ARROW}"'
_ENDED: Final = Content(Section.ENDED)
_FRAMES: Final = frozenset({wording.SUMMARY, wording.BRANCH})
MOST_LINES: Final = 2_000


def earlier_items(text: str) -> Iterator[Item]:
    """The items of a summary's text, by the headings above its lines, or the tags around them."""
    content: Content | None = None
    folder = verb = ""
    for line in islice(_without_code(_EDGE_TAG.sub(r"\n\g<0>\n", text)), MOST_LINES):
        if tag := _TAG.fullmatch(line.strip()):
            content, folder = None if tag["end"] else _TAGGED[tag["name"]], ""
            verb = "" if tag["end"] else _LISTED.get(tag["name"], "")
            continue
        stripped = _BULLET.sub("", f"{verb} {line}" if verb else line, count=1)
        if heading := _HEADING.match(line) or _HEADING.match(stripped):
            content, folder = _content(heading["marked"] or heading["bold"] or heading["plain"]), ""
            continue
        section, said = _read(content, stripped)
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


def _read(content: Content | None, line: str) -> tuple[Section, str]:
    """The section of a line below a heading, if there is one, and its text without marks."""
    if done := _DONE.match(line):
        return Section.DECIDED, line[done.end() :]
    if content is not None:
        return content.read(line)
    return (_ENDED if _QUOTED in line else _UNTITLED).looked_at(line), line


def _without_code(text: str) -> Iterator[str]:
    is_code = False
    for line in lines(clean(text)):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and line not in _FRAMES and _AROUND.match(line) is None:
            yield line


def _whole_path(folder: str, path: str) -> str:
    if path.startswith(ROOTS):
        return path
    return path.removeprefix(BESIDE) if path.startswith(BESIDE) else f"{folder}{path}"


def _content(heading: str) -> Content | None:
    named = (Content(section) for section, names in _NAMES if names.search(heading))
    return CONTENTS.get(heading.casefold()) or next(named, None)
