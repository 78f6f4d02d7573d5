"""`foldline models`: the context windows Foldline knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from cli.consoles import answers, print_json, table_of
from compaction.budget import budget_of
from compaction.windows import MODELS, ContextWindow


def models(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the models whose context window is known, by the beginning of their name.

    Other models need a context window of their own when a session is created.
    """
    if as_json:
        print_json(answers(), [_as_json(model, window) for model, window in _models()])
        return
    columns = (("model", False), ("context window", True), ("left for input", True), ("counted", False))
    answers().print(table_of(columns, (_row(model, window) for model, window in _models())))


def _models() -> Iterator[tuple[str, ContextWindow]]:
    return ((f"{provider}/{name}", window) for provider, names in MODELS.items() for name, window in names.items())


def _row(model: str, window: ContextWindow) -> tuple[str, ...]:
    counted = "exactly" if window.is_exact else "with a margin"
    return model, f"{window.tokens:,}", f"{budget_of(window).limit:,}", counted


def _as_json(model: str, window: ContextWindow) -> dict[str, str | int | bool]:
    return {
        "model": model,
        "context_window": window.tokens,
        "input_budget": budget_of(window).limit,
        "is_exact": window.is_exact,
    }
