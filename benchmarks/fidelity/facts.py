"""Facts to plant: a template's words with values in its slots, as steps of a conversation.

A template has a `kind` and `turns`, the steps in which the fact is said: `{user = TEXT}`, `{assistant = TEXT}`, or a
tool call `{tool = NAME, arguments = JSON, result = TEXT}`, whose slots are written `<port>` instead of `{port}`. A
summary has the fact if all its `needles` occur close together. Steps in `later` are said some time afterwards: they
replace the value of a `replaced` fact, whose `stale` texts must then not be given as current, or resolve an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.fidelity.slots import ANGLED, Values

SETS: Final = Path(__file__).parent / "sets"
JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: the messages that say it, in OpenAI's format, and those that change or resolve it later."""

    kind: str
    messages: tuple[JsonDict, ...]
    later: tuple[JsonDict, ...]
    needles: tuple[str, ...]
    stale: tuple[str, ...]

    @property
    def subject(self) -> tuple[str, ...]:
        """The needles that were said with the first value already: what a replaced value belongs to."""
        said = "\n".join(str(message) for message in self.messages).casefold()
        return tuple(needle for needle in self.needles if needle.casefold() in said)

    @property
    def is_rule(self) -> bool:
        """Whether it is a standing rule of the user."""
        return self.kind.startswith("rule")


def templates(name: str) -> list[JsonDict]:
    """The templates of a set: `development` or `held_out`."""
    found: list[JsonDict] = tomllib.loads((SETS / f"facts_{name}.toml").read_text(encoding="utf-8"))["template"]
    return found


def fact_of(template: Mapping[str, Any], random: Random) -> Fact:
    """A template with random values."""
    values = Values(random)
    messages = [message for step in template["turns"] for message in _messages(step, values, random)]
    later = [message for step in template.get("later", ()) for message in _messages(step, values, random)]
    needles, stale = (tuple(map(values.fill, template.get(name, ()))) for name in ("needles", "stale"))
    return Fact(template["kind"], tuple(messages), tuple(later), needles, stale)


def _messages(step: Mapping[str, str], values: Values, random: Random) -> Sequence[JsonDict]:
    if "tool" not in step:
        ((role, text),) = step.items()
        return [{"role": role, "content": values.fill(text)}]
    arguments = values.fill(step["arguments"], ANGLED)
    return call(step["tool"], arguments, values.fill(step["result"], ANGLED), random)


def call(tool: str, arguments: str, result: str, random: Random, text: str | None = None) -> list[JsonDict]:
    """A tool call with its result, in OpenAI's format."""
    name = f"call_{random.getrandbits(40):010x}"
    wanted = {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}
    return [
        {"role": "assistant", "content": text, "tool_calls": [wanted]},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]
