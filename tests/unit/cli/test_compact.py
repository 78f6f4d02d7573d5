from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from foldline.cli.commands import compact, models, presets, stats
from foldline.engine.formats import rules
from foldline.replay.transcripts import read_transcripts
from foldline.terminal import CommandFailed, ExitCode
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions

app = typer.Typer()
app.command()(compact.compact)
app.command()(stats.stats)
app.command()(presets.presets)
app.command()(models.models)


def invoke(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)
    if isinstance(result.exception, CommandFailed):
        raise result.exception
    return result


def parsed(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return write_sessions(
        tmp_path / "s.jsonl",
        coding=coding_session(1, turns=12),
        anthropic=anthropic_session(2, turns=20),
        short=chat_session(3, turns=1),
    )


def test_each_session_comes_out_in_its_own_format_and_fits(sessions: Path) -> None:
    result = invoke("compact", sessions, "--window", "8k")

    coding, anthropic, short = parsed(result.stdout)
    assert result.exit_code == ExitCode.DONE
    assert [record["format"] for record in (coding, anthropic, short)] == ["openai", "anthropic", "openai"]
    assert rules.check("openai", coding["messages"], "You are a careful agent.") == []
    assert rules.check("anthropic", anthropic["messages"], None) == []
    assert short["messages"] == chat_session(3, turns=1)
    assert "coding" in result.stderr
    assert "does not fit" not in result.stderr


def test_what_was_compacted_can_be_read_again(sessions: Path, tmp_path: Path) -> None:
    output = tmp_path / "compacted.jsonl"

    result = invoke("compact", sessions, "--window", "8k", "--output", output)

    assert (result.exit_code, result.stdout) == (ExitCode.DONE, "")
    again = read_transcripts(output)
    assert [transcript.id for transcript in again] == ["coding", "anthropic", "short"]
    assert again[0].system == "You are a careful agent."


def test_the_layout_says_what_became_of_the_messages(sessions: Path) -> None:
    stderr = invoke("compact", sessions, "--window", "8k", "--layout").stderr

    assert any("condense" in line for line in stderr.splitlines())
    assert any("kept" in line and "Answer 11" in line for line in stderr.splitlines())


def test_a_session_that_cannot_fit_ends_with_exit_code_1(tmp_path: Path) -> None:
    huge = [{"role": "user", "content": "word " * 9000}]

    result = invoke("compact", write_sessions(tmp_path / "s.jsonl", huge=huge), "--window", "8000")

    assert result.exit_code == ExitCode.NEGATIVE_RESULT
    assert "does not fit" in result.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--model", "nobody/none"), "--model: no context window is known"),
        (("--model", "gpt-4omega"), "such as openai/gpt-4o"),
        (("--model", "none", "--policy", "codebuddy"), "`foldline models --preset codebuddy` lists"),
        (("--window", "huge"), "--window must be"),
        (("--stage", "polish"), "--stage: 'polish'"),
        (("--policy", "none"), "--policy: there is no preset 'none'"),
        (("--format", "morse"), "--format: there is no format 'morse'"),
    ],
)
def test_an_option_that_cannot_work_is_refused_before_the_file_is_read(options: Sequence[str], expected: str) -> None:
    with pytest.raises(CommandFailed, match=expected):
        invoke("compact", "no-such-file.jsonl", *options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "name a FILE, or a stored session with --session"),
        (("--model", "openai/gpt-4o"), "name a FILE"),
        (("--session", "s", "--model", "openai/gpt-4o"), "--model is for a FILE"),
        (("--session", "s", "--output", "out.jsonl"), "--output is for a FILE"),
        (("--dry-run", "--layout"), "--layout is for a FILE"),
        (("--dry-run", "--format", "openai"), "--format is for a FILE"),
        (("--session", "s", "--window", "32k"), "PATCH /sessions/ID, or add --dry-run"),
        (("--dry-run", "--stage", "prune"), "leave --stage and --summarize out"),
        (("--dry-run", "--no-summarize"), "leave --stage and --summarize out"),
        (("s.jsonl", "--session", "s"), "--session is for a stored session"),
        (("s.jsonl", "--instructions", "all"), "--instructions is for a stored session"),
    ],
)
def test_an_option_that_goes_with_no_stored_session_is_refused(options: Sequence[str], expected: str) -> None:
    with pytest.raises(CommandFailed, match=expected) as caught:
        invoke("compact", *options)

    assert caught.value.code == ExitCode.BAD_INPUT


@pytest.mark.parametrize("command", ["compact", "stats"])
def test_a_model_is_known_by_the_name_that_the_preset_lists(tmp_path: Path, command: str) -> None:
    file = write_sessions(tmp_path / "s.jsonl", short=[{"role": "user", "content": "Hi"}])

    result = invoke(command, file, "--model", "llama-3.3-70b-versatile", "--policy", "codebuddy")

    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("options", "is_summarized"),
    [
        ((), True),
        (("--no-summarize",), False),
        (("--stage", "prune"), False),
        (("--stage", "prune", "--summarize"), True),
        (("--stage", "prune", "--stage", "summarize"), True),
    ],
)
def test_only_the_stages_that_were_named_are_used(
    sessions: Path, options: Sequence[str], *, is_summarized: bool
) -> None:
    result = invoke("compact", sessions, "--window", "8k", "--layout", *options)

    assert ("condense" in result.stderr) == is_summarized


def test_a_target_that_could_not_be_reached_is_reported(sessions: Path) -> None:
    missed = invoke("compact", sessions, "--window", "8k", "--target", "10").stderr

    assert "short: 96 tokens are left, the target of 10 could not be reached" in missed.splitlines()
    assert "could not be reached" not in invoke("compact", sessions, "--window", "8k", "--target", "4000").stderr


def test_stats_say_what_each_session_takes(sessions: Path) -> None:
    coding, _, short = parsed(invoke("stats", sessions, "--window", "8k", "--json").stdout)

    parts = coding["breakdown"]
    assert coding["estimated_input_tokens"] == pytest.approx(sum(parts.values()), rel=0.05)
    assert parts["tool"] > parts["assistant"] > parts["system"] > parts["tools"] == 0
    assert (coding["should_compact"], coding["within_budget"], coding["turns"]) == (True, False, 12)
    assert (short["should_compact"], short["within_budget"], short["message_count"]) == (False, True, 2)


def test_stats_show_a_table(sessions: Path) -> None:
    lines = invoke("stats", sessions, "--window", "8k").stdout.splitlines()

    assert lines[0].split()[:4] == ["session", "messages", "turns", "tokens"]
    assert lines[1].rstrip().endswith("does not fit")


def test_stats_refuse_an_unknown_preset(sessions: Path) -> None:
    with pytest.raises(CommandFailed, match="--policy: there is no preset 'none'"):
        invoke("stats", sessions, "--policy", "none")


@pytest.mark.parametrize(("model", "window"), [("nobody/none", ()), ("openai/gpt-4o", ("--window", "0"))])
def test_stats_refuse_a_window_that_is_none(sessions: Path, model: str, window: Sequence[str]) -> None:
    with pytest.raises(CommandFailed, match=r"^--(model|window)"):
        invoke("stats", sessions, "--model", model, *window)


@pytest.mark.parametrize("command", ["stats", "compact"])
def test_a_transcript_may_come_from_stdin(command: str) -> None:
    text = json.dumps(chat_session(3, turns=1))

    result = CliRunner().invoke(app, [command, "-"], input=text)

    assert result.exit_code == ExitCode.DONE
    assert "stdin" in result.output


def test_presets_are_listed_with_their_stages() -> None:
    (foldline, *_) = json.loads(invoke("presets", "--json").stdout)

    assert [stage["name"] for stage in foldline["stages"]] == ["deduplicate", "prune", "summarize", "truncate"]
    assert "deduplicate → prune → summarize → truncate" in invoke("presets").stdout


@pytest.mark.parametrize(
    ("preset", "reported"),
    [
        ("foldline", "80% 20% 30% deduplicate"),
        ("neurolink", "80% 50% 4 messages, 30% of all prune"),
        ("agent-code", "100% 50% 13,000 5 texts, 10,000–40,000 tokens microcompact"),
        ("codebuddy", "90% 50% 4 messages strip"),
        ("pi", "100% 50% 16,384 tokens summarize"),
    ],
)
def test_presets_are_listed_with_what_they_leave_free_and_keep(preset: str, reported: str) -> None:
    rows = {name: " ".join(rest) for name, *rest in map(str.split, invoke("presets").stdout.splitlines())}

    assert rows[preset].startswith(reported)


def test_models_are_listed_with_their_windows() -> None:
    listed = {row["model"]: row["context_window"] for row in json.loads(invoke("models", "--json").stdout)}

    assert listed["openai/gpt-4o"] == 128_000
    assert "128,000" in invoke("models").stdout


def test_models_may_be_those_that_a_preset_knows() -> None:
    listed = {row["model"]: row for row in json.loads(invoke("models", "--preset", "neurolink", "--json").stdout)}

    assert (listed["openai/gpt-5"]["context_window"], listed["openai/gpt-5"]["listed_window"]) == (400_000, 1_047_576)
    assert listed["vertex/gemini-1.5-pro"]["trigger_tokens"] == int((2_097_152 - 64_000) * 0.8)
    listed_as_table = invoke("models", "--preset", "agent-code")
    assert "167,000" in listed_as_table.stdout
    assert "Trigger and target are in agent-code's own count" in listed_as_table.stderr
    assert invoke("models").stderr == ""
    with pytest.raises(
        CommandFailed, match=r"--preset: there is no preset 'unheard-of'; there are .*codebuddy@program"
    ):
        invoke("models", "--preset", "unheard-of")
