"""Options that several commands take, checked before any file is read; errors name the option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

import typer

from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.formats import FORMATS
from foldline.engine.models.gauge import Frame
from foldline.engine.models.windows import parse_size
from foldline.engine.policies.policy import stage_of
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.terminal import CommandFailed

DatabaseUrl: TypeAlias = Annotated[str | None, typer.Option(help="SQLAlchemy address of the database.")]
BrokerUrl: TypeAlias = Annotated[str | None, typer.Option(help="Address of the broker.")]
LogLevel: TypeAlias = Annotated[
    Literal["debug", "info", "warning", "error"] | None, typer.Option(help="Least severe log line shown.")
]
Tenant: TypeAlias = Annotated[
    str | None, typer.Option(help="Whose session it is in the database; `default` unless given.")
]
ApiKey: TypeAlias = Annotated[str | None, typer.Option(envvar="FOLDLINE_API_KEY", help="Key for the service at --url.")]


def address_of(url: str) -> str:
    """The address in a `--url`, which may lack its `http://`."""
    return url if "://" in url else f"http://{url}"


def size_of(window: str) -> int:
    """The tokens of a `--window`, given as 32000 or 128k.

    Raises:
        CommandFailed: it is no size.
    """
    try:
        return parse_size(window)
    except InvalidPolicy as error:
        raise CommandFailed(
            f"--window must be a positive number of tokens such as 32000 or 128k, not {window}"
        ) from error


def window_for(model: str, window: str | None, policy: str | None = None) -> int:
    """The tokens of a `--window`, or else of the model's own, as far as the preset `policy` knows it.

    Raises:
        CommandFailed: it is no size, or the model has none that is known.
    """
    if window is not None:
        return size_of(window)
    try:
        return Frame(model).window(PRESETS[policy or DEFAULT_PRESET]).tokens
    except UnknownModel as error:
        own = f"foldline models --preset {policy}" if policy else "foldline models"
        raise CommandFailed(
            f"--model: no context window is known for {model}; give --window too, or name the model as `{own}` lists "
            "it, with its provider first where it has one, such as openai/gpt-4o"
        ) from error


def check_policy(name: str | None, option: str = "--policy") -> None:
    """Raise CommandFailed for a `--policy`, or another option, that is no preset."""
    if name is not None and name not in PRESETS:
        raise CommandFailed(f"{option}: there is no preset {name!r}; there are {', '.join(PRESETS)}")


def check_stages(names: Sequence[str]) -> None:
    """Raise CommandFailed for a `--stage` that is none."""
    try:
        for name in names:
            stage_of(name, "--stage")
    except InvalidPolicy as error:
        raise CommandFailed(str(error)) from error


def check_format(name: str | None, option: str = "--format") -> None:
    """Raise CommandFailed for a `--format`, or another option, that is none."""
    if name is not None and name not in FORMATS:
        raise CommandFailed(f"{option}: there is no format {name!r}; there are {', '.join(FORMATS)}")
