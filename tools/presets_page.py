"""`python -m tools.presets_page > docs/presets.md`: the page for users of other systems, as it is committed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.policies.policy import to_json
from foldline.engine.policies.presets import PRESETS
from tests.parity.features import Difference, Feature, differences, features

INTRODUCTION: Final = """\
# Coming from another system

A preset is a policy with a name: when to compact, how far down, with which stages and parameters. Those on this page
follow other systems, `NAME` as the system's document has it, `NAME@program` as its program computes. Any field may be
given beside it, as in `{"preset": "neurolink", "trigger": 0.7}`, and in `stages` any parameter. Stages run as they are
listed there, and one that is not listed does not run, so list them all: what is not said of a stage stays as the preset
has it. [How it works](how-it-works.md) says what fields and parameters mean, [Using the service](use-the-service.md)
goes through the requests.

A preset decides when to compact and what. It does not decide what holds: under every preset a view fits by an exact
count, has each call with its result, and every compaction can be undone. Each system's part of the page ends with what
is different for that.

In the tables, `module:name` is a name of the library, with what it holds; `{id}` is a session's.
"""
SYSTEM: Final = """
## {title}

`POST /sessions` with

```json
{{"model": "openai/gpt-4o", "policy": {{"preset": "{name}"}}}}
```

or `--policy {name}` of `foldline compact` and `foldline replay`.

### {title}: the presets

{presets}

### {title}: other values

{example.what}:

```json
{policy}
```
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A policy that takes a preset with another value of a field and of a stage's parameter, and what that is there."""

    what: str
    policy: Mapping[str, Any]


EXAMPLES: Final[Mapping[str, Example]] = MappingProxyType(
    {
        "neurolink": Example(
            "A `threshold` of 70 %, down to 40 %, with `pruneProtectTokens` of 20,000",
            {
                "preset": "neurolink",
                "trigger": 0.7,
                "target": 0.4,
                "stages": [{"name": "prune", "protect_tokens": 20_000}, "deduplicate", "summarize", "truncate"],
            },
        ),
        "agent-code": Example(
            "A buffer of 20,000 tokens, with `keep_recent` of 4 turns",
            {
                "preset": "agent-code",
                "buffer_tokens": 20_000,
                "stages": [{"name": "microcompact", "keep_turns": 4}, "summarize", "collapse"],
            },
        ),
        "codebuddy": Example(
            "Compacting from 80 % on, with the 8 newest messages never summarized",
            {
                "preset": "codebuddy",
                "trigger": 0.8,
                "stages": ["strip", {"name": "summarize", "keep_messages": 8}, "truncate"],
            },
        ),
        "pi": Example(
            "A `reserveTokens` of 24,000, with `keepRecentTokens` of 8,000",
            {"preset": "pi", "reserve_tokens": 24_000, "stages": [{"name": "summarize", "keep_tokens": 8_000}]},
        ),
    }
)
TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {"neurolink": "NeuroLink", "agent-code": "agent-code", "codebuddy": "Code Buddy", "pi": "pi"}
)
IN_CODE: Final = frozenset({"function", "field", "constant", "setting", "environment", "flag"})
OF_PRESET: Final = re.compile(
    r"compaction\.presets:PRESETS\.[^.]+\.(?:stages\.(?P<stage>\w+)\.parameters\.)?(?P<name>\w+)"
)


def page() -> str:
    """The page: for each system how its preset is chosen, what that holds, what is where, and what is different."""
    return INTRODUCTION + "".join(_system(name, title) for name, title in TITLES.items() if name in PRESETS)


def _system(name: str, title: str) -> str:
    places = groupby((row for row in features() if row.system == name), lambda row: row.section)
    contrasts = ((row.theirs, _answer(row)) for row in differences() if row.system == name)
    head = title, "Foldline"
    parts = [*((section, _table(head, _places(rows))) for section, rows in places)]
    parts.append(("what is different", _table(head, contrasts)))
    example = EXAMPLES[name]
    policy = _typed(example.policy)
    return SYSTEM.format(title=title, name=name, presets=_presets(name), example=example, policy=policy) + "".join(
        f"\n### {title}: {about[0].lower()}{about[1:]}\n\n{table}" for about, table in parts
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join([_line(head), f"|{'---|' * len(head)}\n", *map(_line, rows)])


def _line(cells: tuple[str, ...]) -> str:
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |\n"


def _presets(name: str) -> str:
    """The literals of a system's presets, side by side."""
    literals = {preset: _flat(to_json(PRESETS[preset])) for preset in PRESETS if preset.partition("@")[0] == name}
    keys = dict.fromkeys(key for literal in literals.values() for key in literal if key != "preset")
    rows = ((f"`{key}`", *(_shown(literal.get(key)) for literal in literals.values())) for key in keys)
    return _table(("", *(f"`{preset}`" for preset in literals)), rows).rstrip()


def _typed(policy: Mapping[str, Any]) -> str:
    """The policy as one would type it: its stages on a line of their own."""
    rest = json.dumps({key: value for key, value in policy.items() if key != "stages"})
    return f'{rest.removesuffix("}")},\n "stages": {json.dumps(policy["stages"])}}}'


def _flat(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy's fields, and the parameters of its stages by `stage.parameter`."""
    stages = policy["stages"]
    own = {f"{stage['name']}.{key}": stage[key] for stage in stages for key in stage if key != "name"}
    return {**policy, "stages": [stage["name"] for stage in stages], **own}


def _places(rows: Iterable[Feature]) -> Iterator[tuple[str, str]]:
    """What is called how and is where; neighbours that are in one place share a row."""
    for place, group in groupby(rows, _place):
        yield ", ".join(map(_name, group)), place


def _name(row: Feature) -> str:
    is_one_word = " " not in row.name.partition("(")[0]
    return f"`{row.name}`" if row.kind == "flag" or (row.kind in IN_CODE and is_one_word) else row.name


def _place(row: Feature) -> str:
    if isinstance(row.value, dict):
        return _windows(row.value)
    if row.value is not None:
        return f"{_holder(row.ours)}: {_shown(row.value)}"
    return f"{row.ours}. {row.why}" if row.why else row.ours


def _holder(name: str) -> str:
    """What holds a value: the preset, a stage of it, or else the library."""
    own = OF_PRESET.fullmatch(name)
    if own is None:
        return f"`{name}`"
    return f"`{own['name']}` of the preset" + (f"'s stage `{own['stage']}`" if own["stage"] else "")


def _windows(tokens: Mapping[str, int]) -> str:
    """The models of each window, in the order of the first of them; the window alone where it is any other model's."""
    models: dict[int, list[str]] = {}
    for model, window in tokens.items():
        name = model.rpartition("/")[2]
        models.setdefault(window, []).append("any other" if name == "_default" else f"`{name}`")
    return "; ".join(f"{', '.join(names)}: {window:,}" for window, names in models.items())


def _answer(row: Difference) -> str:
    return f"{row.ours} {row.reason}" if row.reason else row.ours


def _shown(value: Any) -> str:
    """A value as one would type it, but for the commas of large numbers; nothing, where there is none."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(f"`{item}`" for item in value)
    if isinstance(value, str | bool):
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"
    return f"{value:,}"


if __name__ == "__main__":
    sys.stdout.write(page())
