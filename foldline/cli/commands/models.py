"""`foldline models`: the context windows Foldline knows, or those that a preset knows beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldline.cli.models_file import read_models
from foldline.cli.options import check_policy
from foldline.engine.models.catalog import CatalogRow, catalog
from foldline.engine.models.windows import put_first
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.tokens.estimates import EXACT
from foldline.terminal import answers, notes, print_json, table_of


def models(
    *,
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="Whose models, trigger and target.")
    ] = DEFAULT_PRESET,
    models_file: Annotated[
        Path | None, typer.Option("--models-file", metavar="FILE", help="Your own models, as FOLDLINE_MODELS_FILE has.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models whose context window is known.

    Other models need a context window of their own when a session is created. A preset that follows another system has
    the models which that one knows, some by a word in their name; of two windows, a session gets the first. Its trigger
    and target are in its own count; what is left for input is counted exactly.
    """
    check_policy(preset, "--preset")
    if models_file is not None:
        put_first(read_models(models_file))
    found = list(catalog(PRESETS[preset]))
    if as_json:
        print_json(answers(), [_as_json(model) for model in found])
        return
    columns = (
        ("model", False),
        ("context window", True),
        ("listed there", True),
        ("left for input", True),
        ("trigger", True),
        ("target", True),
        ("counted", False),
    )
    answers().print(table_of(columns, map(_row, found)))
    if PRESETS[preset].counter != EXACT:
        notes().print(f"Trigger and target are in {preset}'s own count; what is left for input is counted exactly.")


def _row(model: CatalogRow) -> tuple[str, ...]:
    figures = (model.context_window, model.listed_window, model.limit, model.trigger, model.target)
    counted = "exactly" if model.is_exact else "with a margin"
    return model.model, *("" if tokens is None else f"{tokens:,}" for tokens in figures), counted


def _as_json(model: CatalogRow) -> dict[str, Any]:
    return {
        "model": model.model,
        "context_window": model.context_window,
        "listed_window": model.listed_window,
        "input_budget": model.limit,
        "trigger_tokens": model.trigger,
        "target_tokens": model.target,
        "is_exact": model.is_exact,
        "source": model.source,
        "prices": model.prices._asdict() if model.prices else None,
    }
