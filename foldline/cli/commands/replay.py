"""`foldline replay FILE`: drives transcripts turn by turn through a service, and checks every view on the way."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from foldline.cli.options import ApiKey, check_format, check_policy, size_of
from foldline.client import Client
from foldline.engine.wire import dumps
from foldline.replay import report
from foldline.replay.drive import Drive
from foldline.replay.embedded import embedded_service
from foldline.replay.options import Options, check_threshold
from foldline.replay.record import ReplayFigures
from foldline.replay.transcripts import Transcript, read_transcripts
from foldline.terminal import CommandFailed, ExitCode, answers, notes


def replay(
    *,
    file: Annotated[
        Path, typer.Argument(help="JSON Lines with one session a line, or one JSON transcript; - is stdin.")
    ],
    window: Annotated[str, typer.Option(help="Context window of the sessions, as 32000 or 128k.")],
    model: Annotated[str, typer.Option(help="Model of the sessions.")] = "openai/gpt-4o",
    policy: Annotated[str | None, typer.Option(help="Preset; `foldline presets` lists them.")] = None,
    session: Annotated[str | None, typer.Option(help="Replay only the session with this id.")] = None,
    limit_sessions: Annotated[int | None, typer.Option(min=1, help="Replay only the first N sessions.")] = None,
    format_name: Annotated[str | None, typer.Option("--format", help="Format of FILE, if not to be guessed.")] = None,
    view_formats: Annotated[
        list[str] | None,
        typer.Option("--view-format", help="Format to read views in; repeat for more. Default: FILE's, and another."),
    ] = None,
    compact_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="<share>",
            help="Compact when this share of the budget is in use, above 0 to 1, instead of at the policy's trigger. "
            "A lower one lowers the policy's target in proportion.",
        ),
    ] = None,
    is_compaction_disabled: Annotated[
        bool,
        typer.Option(
            "--disable-compaction", help="Never compact by itself. Views that then do not fit are no violation."
        ),
    ] = False,
    compact_every: Annotated[int, typer.Option(min=0, help="Also ask for a compaction every K model calls.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report as JSON too.")] = None,
    slowest: Annotated[
        float | None, typer.Option(min=0, help="Seconds that no append, context or compact request may exceed.")
    ] = None,
    patience: Annotated[float, typer.Option(min=0, help="Seconds that jobs may stand still at the end.")] = 60.0,
    url: Annotated[str | None, typer.Option(help="A running service; without it one is started and stopped.")] = None,
    api_key: ApiKey = None,
    summarizer: Annotated[
        str | None, typer.Option(help="Who writes summaries in the service that is started: extractive or openai.")
    ] = None,
    summarizer_base_url: Annotated[str | None, typer.Option(help="Its endpoint, with /v1.")] = None,
    summarizer_model: Annotated[str | None, typer.Option(help="Its model.")] = None,
) -> None:
    """Drive recorded sessions turn by turn through a service, check every view, and report.

    Before each call of the model the view is fetched and checked: its size, the rules of the format, calls and results
    in pairs, the system prompt, the last user message, and that it only grows between compactions. It is fetched in
    the transcript's format and in openai, or anthropic for those of openai; in the second, views of over 4 MB only
    after compactions and at the end.

    Where all stages that clear results stop at the policy's target, the first views after compactions have to hold 0.6
    of it in the median. No stage strip or microcompact does, nor prune with stops_at_target false.

    The report counts the messages out of view, and those that the preset's own program would have hidden by its own
    estimate. Under presets of other systems, a view that lacks what that program keeps, although it would fit, is a
    violation; not with --compact-every.

    The report also counts the items of summaries by kind: those in the summaries of the last view, those that can still
    be recalled, and those that newer ones replaced. Only summaries without an LLM know their items.

    A note on stderr says when a session comes to use more than 60 % of its budget; a warning says when it passes 80 %,
    or --compact-threshold, or is compacted by itself because its policy counts more, and what came of that. Each is
    given once per crossing, none with --disable-compaction.

    The last line is `violations: N`; the exit code is 1 if there are any, or if no session could be created.
    """
    options = Options(
        model,
        size_of(window),
        policy,
        compact_every,
        patience,
        compact_threshold=compact_threshold,
        is_compacting=not is_compaction_disabled,
        view_formats=tuple(dict.fromkeys(view_formats or ())),
    )
    check_threshold(options)
    flags = _serve_options(
        {
            "--summarizer": summarizer or ("openai" if summarizer_base_url else None),
            "--summarizer-base-url": summarizer_base_url,
            "--summarizer-model": summarizer_model,
        }
    )
    for name, option in ((format_name, "--format"), *((name, "--view-format") for name in options.view_formats)):
        check_format(name, option)
    if url is None:
        check_policy(policy)
    if url and flags:
        raise CommandFailed(f"{flags[0]} is for the service that is started; the one at --url has its own settings")
    transcripts = _chosen(read_transcripts(file, format_name), session, limit_sessions)
    with _address(url, flags) as address, Client(address, api_key) as service:
        figures = _driven(service, transcripts, options)
    _report(figures, json_file)
    _judge(figures, slowest)


def _chosen(transcripts: list[Transcript], session: str | None, limit: int | None) -> list[Transcript]:
    chosen = [transcript for transcript in transcripts if session is None or transcript.id == session][:limit]
    if chosen:
        return chosen
    known = ", ".join(transcript.id for transcript in transcripts)
    raise CommandFailed(f"no session {session!r} in the file; it has {shorten(known, 300, placeholder=' …')}")


def _serve_options(given: dict[str, str | None]) -> list[str]:
    return [text for name, value in given.items() if value is not None for text in (name, value)]


@contextmanager
def _address(url: str | None, options: list[str]) -> Iterator[str]:
    if url is not None:
        yield url if "://" in url else f"http://{url}"
        return
    # The service has a process group of its own, so it would outlive a command that just ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with embedded_service(options) as address:
        yield address


def _driven(service: Client, transcripts: list[Transcript], options: Options) -> ReplayFigures:
    records = []
    with _progress() as progress:
        task = progress.add_task("", total=sum(len(transcript.messages) for transcript in transcripts))
        for number, transcript in enumerate(transcripts, 1):
            progress.update(task, description=f"session {number} of {len(transcripts)}")
            drive = Drive(
                service, transcript, options, lambda count: progress.advance(task, count), _above(progress.console)
            )
            records.append(drive.run())
    return ReplayFigures(records, service.seconds)


def _above(console: Console) -> Callable[[str, str], None]:
    """Prints notes above the progress bar, if that is on this console, and wraps nothing in a file."""
    # The style is the text's own: one given to `print` would colour the bar below it too.
    return lambda text, style: console.print(Text(text, style), soft_wrap=True)


def _progress() -> Progress:
    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("messages"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=notes(), transient=True)


def _report(figures: ReplayFigures, json_file: Path | None) -> None:
    report.show(answers(), figures)
    if json_file is None:
        return
    try:
        json_file.write_bytes(dumps(figures.as_json()))
    except OSError as error:
        raise CommandFailed(f"cannot write {json_file}: {error.strerror}") from error


def _judge(figures: ReplayFigures, slowest: float | None) -> None:
    too_slow = slowest is not None and figures.slowest > slowest
    if slowest is not None:
        style = "red" if too_slow else ""
        notes().print(f"slowest request: {figures.slowest:.3f} s of at most {slowest:.3f} s", style=style)
    if not figures.was_driven:
        notes().print("no session could be created: nothing was replayed", style="red")
    if too_slow or figures.violations or not figures.was_driven:
        raise typer.Exit(ExitCode.NEGATIVE_RESULT)
