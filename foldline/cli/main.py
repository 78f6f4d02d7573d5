"""The `foldline` command line: registers the commands, and turns their failures into exit codes."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from foldline.cli.commands import (
    api,
    beat,
    compact,
    flower,
    jobs,
    migrate,
    models,
    presets,
    replay,
    serve,
    session_files,
    stats,
    worker,
)
from foldline.terminal import CommandFailed, answers, notes

HELP = """Keeps long LLM agent sessions inside the model's context window, without losing what was said.

Start with `foldline serve` and open the address it prints, or try a file of your own: `foldline stats FILE`,
`foldline compact FILE`, `foldline replay FILE --window 32000`.

FILE is JSON Lines with one session a line (a list of messages, or an object with `messages`), or one JSON transcript;
`-` is stdin. Messages are OpenAI's or Anthropic's.

Exit codes: 0 done, 1 done with a bad answer (violations, too slow, does not fit), 2 bad input, 3 the service failed.
"""

app = typer.Typer(
    name="foldline", help=HELP, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


def _show_version(*, is_asked: bool) -> None:
    if is_asked:
        answers().print(f"foldline {version('foldline')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options that stand before any command."""


app.command()(serve.serve)
app.command()(api.api)
app.command()(worker.worker)
app.command()(beat.beat)
app.command()(flower.flower)
app.command()(migrate.migrate)
app.command()(compact.compact)
app.command()(stats.stats)
app.command()(replay.replay)
app.command("import")(session_files.import_file)
app.command("export")(session_files.export_file)
app.command()(presets.presets)
app.command()(models.models)
app.add_typer(jobs.app, name="jobs")


def main() -> None:
    """Run the command line; never returns."""
    try:
        app()
    except CommandFailed as failure:
        # On a terminal it wraps; in a log one error is one line.
        notes().print(f"foldline: {failure}", markup=False, style="red", soft_wrap=not notes().is_terminal)
        sys.exit(failure.code)


if __name__ == "__main__":
    main()
