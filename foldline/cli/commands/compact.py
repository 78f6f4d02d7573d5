"""`foldline compact FILE`: compacts transcripts without a service, with the engine as a library; or a session."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import track

from foldline.cli.layout import Line, layout
from foldline.cli.loading import load
from foldline.cli.options import DatabaseUrl, Tenant, check_format, check_policy, check_stages, size_of, window_for
from foldline.engine import library
from foldline.engine.errors import CompactionError
from foldline.engine.formats import FORMATS
from foldline.engine.ledger.provenance import together
from foldline.engine.library import Compacted
from foldline.engine.wire import dumps, dumps_text
from foldline.replay.transcripts import Transcript, read_transcripts
from foldline.terminal import CommandFailed, ExitCode, answers, kinds_table, notes, printable, table_of

JsonDict = dict[str, Any]
DEFAULT_MODEL = "openai/gpt-4o"


class _Done(NamedTuple):
    transcript: Transcript
    compacted: Compacted


def compact(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="JSON Lines with one session a line, or one JSON transcript; - is stdin. Without one, --session is "
            "compacted.",
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="A session of the database; for --dry-run, else its newest.")
    ] = None,
    model: Annotated[str | None, typer.Option(help=f"Model of a FILE, as provider/name; else {DEFAULT_MODEL}.")] = None,
    window: Annotated[
        str | None, typer.Option(help="Context window, as 32000 or 128k; else the model's, or the session's.")
    ] = None,
    target: Annotated[int | None, typer.Option(min=1, help="Tokens to go down to; else the policy's target.")] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", "--preset", help="Preset; `foldline presets` lists them.")
    ] = None,
    stage: Annotated[list[str] | None, typer.Option(help="Only these stages, in this order; repeatable.")] = None,
    summarize: Annotated[
        bool | None,
        typer.Option(help="Put extractive summaries in the place of what is old; on, unless --stage leaves it out."),
    ] = None,
    format_name: Annotated[str | None, typer.Option("--format", help="Format of FILE, if not to be guessed.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, and not to stdout; in a terminal, to have JSON.")
    ] = None,
    show_layout: Annotated[bool, typer.Option("--layout", help="Also show what became of each message.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change and write nothing; report what would be.")] = False,
    instructions: Annotated[str | None, typer.Option(help="What the summary of a session should look at.")] = None,
    database_url: DatabaseUrl = None,
    tenant: Tenant = None,
) -> None:
    """Compact transcripts, and write them in the format they came in, one session a line; or a stored session.

    In a terminal, it shows what became of each message, the summaries, and how many items of each kind they keep, leave
    to recall, or replace by newer ones. The transcripts go to a pipe, or to --output.

    The report goes to stderr. The exit code is 1 if a session does not fit its budget even when compacted. With
    --dry-run, a session's report is where a summary would cut it.
    """
    stages = stage or []
    check_policy(policy)
    check_stages(stages)
    if file is None:
        # Loads the database and the settings, which a FILE does without.
        load("foldline.cli.compact_session").compact_session(
            {"--output": output, "--layout": show_layout, "--format": format_name, "--model": model},
            session=session,
            tenant=tenant,
            instructions=instructions,
            target=target,
            policy=_preset(policy),
            window=None if window is None else size_of(window),
            stages=stage,
            summarize=summarize,
            is_dry_run=dry_run,
            database_url=database_url,
        )
        return
    _check_file_only({"--session": session, "--instructions": instructions, "--database-url": database_url})
    model = model or DEFAULT_MODEL
    options: JsonDict = {
        "model": model,
        "context_window": window_for(model, window, policy),
        "target_tokens": target,
        "policy": _preset(policy),
        "stages": stages or None,
        "summarize": not stages or "summarize" in stages if summarize is None else summarize,
    }
    check_format(format_name)
    transcripts = read_transcripts(file, format_name)
    console = notes()
    done = [
        _compacted(transcript, options)
        for transcript in track(transcripts, "compacting", console=console, transient=True)
    ]
    is_shown = output is None and not dry_run and sys.stdout.isatty()
    if is_shown:
        _show(answers(), done)
    elif not dry_run:
        _write(done, output)
    _report(console, done, show_layout=show_layout and not is_shown)
    if target is not None:
        _report_missed(console, done, target)
    if not all(item.compacted.fits for item in done):
        raise typer.Exit(ExitCode.NEGATIVE_RESULT)


def _check_file_only(for_sessions: Mapping[str, object]) -> None:
    """Raise CommandFailed for options beside a FILE that are for a stored session."""
    for option, value in for_sessions.items():
        if value:
            raise CommandFailed(f"{option} is for a stored session, not for a FILE; leave one of them out")


def _preset(policy: str | None) -> JsonDict | None:
    return {"preset": policy} if policy else None


def _compacted(transcript: Transcript, options: JsonDict) -> _Done:
    try:
        return _Done(
            transcript,
            library.compact(
                transcript.messages,
                system=transcript.system,
                tools=transcript.tools,
                format_name=transcript.format,
                **options,
            ),
        )
    except CompactionError as error:
        raise CommandFailed(f"{transcript.id}: {error}") from error


def _write(done: Iterable[_Done], output: Path | None) -> None:
    lines = (_record(item) for item in done)
    if output is None:
        for line in lines:
            answers().out(dumps_text(line), highlight=False)
        return
    try:
        output.write_bytes(b"".join(dumps(line) + b"\n" for line in lines))
    except OSError as error:
        raise CommandFailed(f"cannot write {output}: {error.strerror}") from error


def _show(console: Console, done: Iterable[_Done]) -> None:
    """Show each session for a reader: its layout, its summaries, and their items by kind."""
    for item in done:
        _show_layout(console, item)
        summaries = item.compacted.summaries
        for summary in summaries:
            console.print("\nsummary", style="bold")
            console.print(printable(summary.text), markup=False, soft_wrap=True)
        if summaries:
            console.print()
            console.print(kinds_table(together(summary.provenance for summary in summaries).by_kind))
        console.print()


def _show_layout(console: Console, item: _Done) -> None:
    console.print(printable(item.transcript.id), style="bold", markup=False)
    for line in _layout(item):
        console.print(f"  {printable(str(line))}", markup=False, soft_wrap=True)


def _layout(item: _Done) -> list[Line]:
    wire_format = FORMATS[item.transcript.format]
    view = wire_format.parse(item.compacted.messages)
    return layout(wire_format.parse(item.transcript.messages), view)


def _record(item: _Done) -> JsonDict:
    """The session as `foldline` reads it; OpenAI's messages carry their system prompt themselves."""
    transcript, messages = item.transcript, item.compacted.messages
    record: JsonDict = {"id": transcript.id, "format": transcript.format}
    if transcript.system is not None and transcript.format == "openai":
        messages = [{"role": "system", "content": transcript.system}, *messages]
    elif transcript.system is not None:
        record["system"] = transcript.system
    if transcript.tools:
        record["tools"] = list(transcript.tools)
    return {**record, "messages": messages}


def _report(console: Console, done: list[_Done], *, show_layout: bool) -> None:
    columns = (
        ("session", False),
        ("messages", True),
        ("tokens", True),
        ("saved", True),
        ("not cached", True),
        ("of budget", True),
        ("stages", False),
        ("", False),
    )
    console.print(table_of(columns, map(_row, done)))
    for item in done if show_layout else ():
        console.print()
        _show_layout(console, item)


def _report_missed(console: Console, done: list[_Done], target: int) -> None:
    """Name the sessions that could not be brought down to a `--target`."""
    for transcript, compacted in done:
        used = compacted.budget.used
        if used > target:
            text = f"{transcript.id}: {used:,} tokens are left, the target of {target:,} could not be reached"
            console.print(text, markup=False, style="yellow")


def _row(item: _Done) -> tuple[str, ...]:
    transcript, compacted = item
    return (
        transcript.id,
        f"{len(transcript.messages):,} → {len(compacted.messages):,}",
        f"{compacted.tokens_before:,} → {compacted.tokens_after:,}",
        f"{compacted.tokens_saved:,}",
        f"{compacted.rewritten_tokens:,}",
        f"{compacted.budget.used / compacted.budget.limit:.0%}",
        " → ".join(compacted.stages_used) or "none",
        "" if compacted.fits else "does not fit",
    )
