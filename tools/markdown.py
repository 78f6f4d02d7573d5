"""Tables and values as the generated pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown, with a newline after each row."""
    return "".join([_line(head), f"|{'---|' * len(head)}\n", *map(_line, rows)])


def shown(value: Any) -> str:
    """A value as one would type it, with commas in large numbers; empty for None."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(f"`{item}`" for item in value)
    if isinstance(value, str | bool):
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"
    return f"{value:,}"


def _line(cells: tuple[str, ...]) -> str:
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |\n"
