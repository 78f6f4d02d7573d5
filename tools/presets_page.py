"""`python -m tools.presets_page > docs/presets.md`: the page on presets, made of presets_page.md and the presets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from foldline.engine.models.gauge import Fixed, Frame, layout_of
from foldline.engine.policies.policy import Policy, to_json
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.tokens.estimates import EXACT
from tools.markdown import shown, table
from tools.presets_reference import TITLES

TEXT: Final = Path(__file__).with_suffix(".md")
# A known model of 200,000 tokens, which is the window that the page names.
FRAME: Final = Frame("anthropic/claude-sonnet-4-5")


def page() -> str:
    """The page: its text, with the tables in their places."""
    text = TEXT.read_text(encoding="utf-8")
    return text.replace("<!-- comparison -->\n", comparison()).replace("<!-- values -->\n", values())


def comparison() -> str:
    """The presets side by side: when, how far down, with which stages, and by which count."""
    head = "preset", "compacts above", "goes down to", "stages", "counts tokens by"
    return table(head, map(_compared, PRESETS.values()))


def values() -> str:
    """For each system, what its presets set."""
    systems = ((name, title) for name, title in {DEFAULT_PRESET: "Foldline", **TITLES}.items())
    return "\n".join(f"### {title}: values\n\n{_values_of(name)}" for name, title in systems)


def _compared(policy: Policy) -> tuple[str, ...]:
    goals = FRAME.gauge(policy, FRAME.goals(policy, 0, 1000), Fixed()).goals
    of = " of the window" if layout_of(policy, FRAME.window(policy).tokens).of_window else ""
    buffer = f", less {policy.buffer_tokens:,}" if policy.buffer_tokens else ""
    return (
        f"`{policy.preset}`",
        f"{goals.trigger:,} ({_percent(policy.trigger)}{of}{buffer})",
        f"{goals.target:,} ({_percent(policy.target)}{of})",
        " → ".join(f"`{stage.name}`" for stage in policy.stages),
        "the tokenizer" if policy.counter == EXACT else f"the estimate `{policy.counter}`",
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _values_of(system: str) -> str:
    """The literals of a system's presets, side by side."""
    literals = {name: to_json(PRESETS[name]) for name in PRESETS if name.partition("@")[0] == system}
    keys = dict.fromkeys(key for literal in literals.values() for key in _own(literal))
    flat = [_flat(literal) for literal in literals.values()]
    places = {stage: place for place, stage in enumerate(flat[0]["stages"])}
    by_stage = sorted(keys, key=lambda key: places.get(key.partition(".")[0], -1))
    rows = ((f"`{key}`", *(shown(literal.get(key)) for literal in flat)) for key in by_stage)
    return table(("", *(f"`{preset}`" for preset in literals)), rows)


def _own(literal: Mapping[str, Any]) -> Iterator[str]:
    """What a page has to list of a preset: when, how far and with what, and each value that is no default."""
    usual = to_json(PRESETS[DEFAULT_PRESET])
    for key, value in _flat(literal).items():
        if key != "preset" and (key in {"trigger", "target", "stages"} or key not in usual or value != usual[key]):
            yield key


def _flat(literal: Mapping[str, Any]) -> dict[str, Any]:
    """A policy's fields, and the parameters of its stages by `stage.parameter`."""
    stages = literal["stages"]
    own = {f"{stage['name']}.{key}": stage[key] for stage in stages for key in stage if key != "name"}
    return {**literal, "stages": [stage["name"] for stage in stages], **own}


if __name__ == "__main__":
    sys.stdout.write(page())
