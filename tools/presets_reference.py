"""`python -m tools.presets_reference > docs/presets-reference.md`: where other systems' features are in Foldline."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Final

from tests.parity.features import Difference, Feature, differences, features
from tools.markdown import shown, table

INTRODUCTION: Final = """\
# Presets: where everything is

This page is for looking things up. It lists each function, field and setting of four other systems with its place in
Foldline, and each behaviour that is different in Foldline. [presets.md](presets.md) says how to choose a preset.

{contents}

In the tables:

- `{{id}}` is the id of a session.
- “the preset” is the one that has the system's name. “the stage `prune`” is that stage in the policy's `stages`.
- `module:name` is a name in the Python library. What follows it is the value that it holds.
- “the same” means that Foldline does what the system does.
"""
TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {"neurolink": "NeuroLink", "agent-code": "agent-code", "codebuddy": "Code Buddy", "pi": "pi"}
)
PLACES: Final = "where it is"
CONTRASTS: Final = "what is different"
IN_CODE: Final = frozenset({"function", "field", "constant", "setting", "environment", "flag"})
OF_PRESET: Final = re.compile(
    r"foldline\.engine\.policies\.presets:PRESETS\.(?P<preset>[^.]+)\."
    r"(?:stages\.(?P<stage>\w+)\.parameters\.)?(?P<name>\w+)"
)


def page() -> str:
    """The page: for each system where its features are, and what is different."""
    contents = "\n".join(f"- {title}: {_link(title, PLACES)}, {_link(title, CONTRASTS)}" for title in TITLES.values())
    return INTRODUCTION.format(contents=contents) + "".join(_system(name, title) for name, title in TITLES.items())


def _link(title: str, part: str) -> str:
    heading = f"{title}: {part}"
    anchor = re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
    return f"[{part}](#{anchor})"


def _system(name: str, title: str) -> str:
    head = title, "Foldline"
    sections = groupby((row for row in features() if row.system == name), lambda row: row.section)
    places = "".join(f"\n### {section}\n\n{table(head, _places(rows))}" for section, rows in _titled(title, sections))
    contrasts = table(head, ((row.theirs, _answer(row)) for row in differences() if row.system == name))
    return f"\n## {title}: {PLACES}\n{places}\n## {title}: {CONTRASTS}\n\n{contrasts}"


def _titled(title: str, sections: Iterable[tuple[str, Iterable[Feature]]]) -> Iterator[tuple[str, Iterable[Feature]]]:
    """The sections by headings that no other system's section has."""
    for section, rows in sections:
        yield f"{title}: {section[0].lower()}{section[1:]}", rows


def _places(rows: Iterable[Feature]) -> Iterator[tuple[str, str]]:
    """The names of features and their place; neighbours in one place share a row."""
    for place, group in groupby(rows, _place):
        yield ", ".join(map(_name, group)), place


def _name(row: Feature) -> str:
    is_one_word = " " not in row.name.partition("(")[0]
    return f"`{row.name}`" if row.kind == "flag" or (row.kind in IN_CODE and is_one_word) else row.name


def _place(row: Feature) -> str:
    if isinstance(row.value, dict):
        return _windows(row.value)
    if row.value is not None:
        return f"{_holder(row)}: {shown(row.value)}"
    return f"{row.ours}. {row.why}" if row.why else row.ours


def _holder(row: Feature) -> str:
    """What holds a value: the preset, a stage of it, or else the library."""
    own = OF_PRESET.fullmatch(row.ours)
    if own is None:
        return f"`{row.ours}`"
    preset = "the preset" if own["preset"] == row.system else f"`{own['preset']}`"
    return f"`{own['name']}` of the stage `{own['stage']}`" if own["stage"] else f"`{own['name']}` of {preset}"


def _windows(tokens: Mapping[str, int]) -> str:
    """The models of each window, in the order of the first of them; the window alone where it is any other model's."""
    models: dict[int, list[str]] = {}
    for model, window in tokens.items():
        name = model.rpartition("/")[2]
        models.setdefault(window, []).append("any other" if name == "_default" else f"`{name}`")
    return "; ".join(f"{', '.join(names)}: {window:,}" for window, names in models.items())


def _answer(row: Difference) -> str:
    return f"{row.ours} {row.reason}" if row.reason else row.ours


if __name__ == "__main__":
    sys.stdout.write(page())
