"""`foldline stats FILE`: what transcripts take of a model's budget, without a service."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track

from foldline.cli.options import check_format, check_policy, window_for
from foldline.engine.errors import CompactionError
from foldline.engine.formats import FORMATS
from foldline.engine.library import budget
from foldline.engine.messages import Message
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.tokens.breakdown import Breakdown
from foldline.engine.tokens.counter import count_message
from foldline.replay.transcripts import Transcript, read_transcripts
from foldline.terminal import CommandFailed, answers, notes, print_json, table_of

JsonDict = dict[str, Any]
KINDS = ("user", "assistant", "tool")


def stats(
    *,
    file: Annotated[
        Path, typer.Argument(help="JSON Lines with one session a line, or one JSON transcript; - is stdin.")
    ],
    model: Annotated[str, typer.Option(help="Model, as provider/name.")] = "openai/gpt-4o",
    window: Annotated[str | None, typer.Option(help="Context window, as 32000 or 128k; else the model's.")] = None,
    policy: Annotated[str, typer.Option(help="Preset whose trigger is used.")] = DEFAULT_PRESET,
    format_name: Annotated[str | None, typer.Option("--format", help="Format of FILE, if not to be guessed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one session a line.")] = False,
) -> None:
    """Show what each session takes of a model's budget, by kind of message, and whether it is time to compact."""
    check_policy(policy)
    size = window_for(model, window, policy)
    check_format(format_name)
    transcripts = read_transcripts(file, format_name)
    counting = track(transcripts, "counting", console=notes(), transient=True)
    rows = [_stats(transcript, model, size, PRESETS[policy].trigger) for transcript in counting]
    if as_json:
        for row in rows:
            print_json(answers(), row)
        return
    columns = (
        ("session", False),
        ("messages", True),
        ("turns", True),
        ("tokens", True),
        *((kind, True) for kind in ("system", "tools", *KINDS)),
        ("of budget", True),
        ("", False),
    )
    answers().print(table_of(columns, map(_row, rows)))


def _stats(transcript: Transcript, model: str, window: int, trigger: float) -> JsonDict:
    taken = _taken(transcript, model, window)
    messages = FORMATS[transcript.format].parse(transcript.messages)
    return {
        "id": transcript.id,
        "message_count": len(transcript.messages),
        "turns": sum(message.role == "user" for message in messages),
        "estimated_input_tokens": taken.used,
        "available_input_tokens": taken.limit,
        "usage_ratio": taken.used / taken.limit,
        "within_budget": taken.fits,
        "should_compact": taken.used > trigger * taken.limit,
        "breakdown": {
            "system": taken.breakdown["system"],
            "tools": taken.breakdown["tools"],
            **_tokens_by_kind(messages),
        },
    }


def _taken(transcript: Transcript, model: str, window: int) -> Breakdown:
    try:
        return budget(
            transcript.messages,
            model=model,
            context_window=window,
            system=transcript.system,
            tools=transcript.tools,
            format_name=transcript.format,
        )
    except CompactionError as error:
        raise CommandFailed(f"{transcript.id}: {error}") from error


def _tokens_by_kind(messages: list[Message]) -> dict[str, int]:
    """Tokens by who speaks; system and developer messages in the middle are shown, and counted, as the user's."""
    tokens: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for message in messages:
        tokens[message.role if message.role in KINDS else "user"] += count_message(message)
    return dict(tokens)


def _row(stats: JsonDict) -> tuple[str, ...]:
    parts = stats["breakdown"]
    verdict = "time to compact" if stats["should_compact"] else ""
    return (
        stats["id"],
        f"{stats['message_count']:,}",
        f"{stats['turns']:,}",
        f"{stats['estimated_input_tokens']:,}",
        *(f"{parts[kind]:,}" for kind in ("system", "tools", *KINDS)),
        f"{stats['usage_ratio']:.0%}",
        verdict if stats["within_budget"] else "does not fit",
    )
