"""The command line as typed: loads the command that runs, and turns its failures into exit codes."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from foldline.cli.commands import COMMANDS
from foldline.cli.loading import load
from foldline.terminal import CommandFailed, answers, notes

HELP = """Keeps long LLM agent sessions inside the model's context window, without losing what was said.

Start with `foldline serve` and open the address it prints, or try a file of your own: `foldline stats FILE`,
`foldline compact FILE`, `foldline replay FILE --window 32000`.

FILE is JSON Lines with one session a line (a list of messages, or an object with `messages`), or one JSON transcript;
`-` is stdin. Messages are OpenAI's or Anthropic's.

Exit codes: 0 done, 1 done with a bad answer (violations, too slow, does not fit), 2 bad input, 3 the service failed.
"""


def run() -> None:
    """Run the command line; never returns.

    Raises:
        MissingPackage: the command needs a package that is not installed.
    """
    try:
        program()()
    except CommandFailed as failure:
        # On a terminal it wraps; in a log one error is one line.
        notes().print(f"foldline: {failure}", markup=False, style="red", soft_wrap=not notes().is_terminal)
        sys.exit(failure.code)


def program() -> TyperGroup:
    """`foldline` with its commands, none of which is loaded."""
    app = typer.Typer(name="foldline", help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(_options)
    group = get_group(app)
    for name, listed in COMMANDS.items():
        group.add_command(LazyCommand(name, help=listed.help))
    return group


class LazyCommand(TyperCommand):
    """A command's line in the list of commands, which becomes the command when that runs or shows its own help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


def load_command(name: str) -> TyperCommand | TyperGroup:
    """A command of the table.

    Raises:
        MissingPackage: it needs a package that is not installed.
    """
    listed = COMMANDS[name]
    found = getattr(load(f"foldline.cli.commands.{listed.module}"), listed.name)
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False)
        found.command(name)(function)
    return cast("TyperCommand | TyperGroup", get_command(found))


def _show_version(*, is_asked: bool) -> None:
    if is_asked:
        answers().print(f"foldline {version('foldline')}")
        raise typer.Exit


def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options that stand before any command."""
