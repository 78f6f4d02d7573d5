"""The effect of a plan on a view, as text that a reviewer can read in a diff."""

from __future__ import annotations

from foldline.engine.edits import LiveEdits
from foldline.engine.facts import Facts
from foldline.engine.outline import Outline, Summarized, Unit, outline_of
from foldline.engine.planning.plan import Plan
from foldline.engine.tokens.measures import exact_measure


def layout(outline: Outline, plan: Plan) -> str:
    """One line for each entry: `03 tool       clear      4812 → 19`; an unedited entry shows only its tokens."""
    after = outline.edited(plan.edits)
    hidden = {id_ for item in after.items if isinstance(item, Unit) and item.is_hidden for id_ in _seqs(item)}
    lines: list[str] = []
    for item in outline.items:
        if isinstance(item, Summarized):
            lines.append(f"{item.first:02} summary    until {item.last:02}   {item.edit.tokens}")
        else:
            lines.extend(_line(entry, after.live, is_hidden=entry.seq in hidden) for entry in item.entries)
    return "\n".join(lines)


def shape(live: LiveEdits, facts: list[Facts]) -> str:
    """One word for each item: `summary`, `marker` (a run of hidden units), or the kind of the unit."""
    words: list[str] = []
    for item in outline_of(facts, live).items:
        word = "summary" if isinstance(item, Summarized) else "marker" if item.is_hidden else item.kind
        if word != "marker" or words[-1:] != ["marker"]:
            words.append(word)
    return " ".join(words)


def _seqs(unit: Unit) -> list[int]:
    return [entry.seq for entry in unit.entries]


def _line(entry: Facts, live: LiveEdits, *, is_hidden: bool) -> str:
    cell = live.cells.get(entry.seq)
    name = f"{entry.seq:02} {entry.role:<10}"
    if is_hidden:
        return f"{name} hide       {entry.tokens} → 0"
    if cell is None:
        return f"{name}            {entry.tokens}"
    return f"{name} {cell.kind:<10} {entry.tokens} → {exact_measure().shown(entry, cell)}"
