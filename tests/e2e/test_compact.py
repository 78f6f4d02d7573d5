"""`foldline compact FILE` as its user runs it: in a terminal, and in a pipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline.engine.formats import FORMATS
from foldline.terminal import ExitCode
from tests.support.processes.program import foldline
from tests.support.processes.terminal import foldline_in_terminal
from tests.support.recorded import chat_session, coding_session, write_sessions

RULE = "Never edit the file src/generated.py by hand."


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    said = [
        {"role": "user", "content": RULE},
        {"role": "user", "content": "The invoices service listens on port 4111."},
    ]
    newer = {"role": "user", "content": "Correction: the invoices service listens on port 4222 now."}
    return write_sessions(
        tmp_path / "s.jsonl",
        long=[*said, *coding_session(1, turns=6)[1:], newer, *coding_session(2, turns=6)[1:]],
        short=chat_session(3, turns=1),
    )


def test_a_terminal_shows_layout_summary_and_items_by_kind(sessions: Path) -> None:
    done = foldline_in_terminal("compact", sessions, "--window", "8k")

    lines = done.stdout.splitlines()
    assert done.returncode == ExitCode.DONE
    assert f"- {RULE}" in lines, "the summary is there as text"
    assert any("condense" in line and "messages" in line for line in lines)
    assert any("kept" in line and "Answer 5" in line for line in lines)
    heads = next(
        place for place, line in enumerate(lines) if line.split() == ["items", "kept", "recallable", "replaced"]
    )
    table = {
        kind: tuple(map(int, counts)) for kind, *counts in map(str.split, lines[heads + 1 : lines.index("short") - 1])
    }
    assert table["rule"][0] >= 1
    assert sum(replaced for *_, replaced in table.values()) >= 1, "the older port was replaced"
    assert sum(recallable for _, recallable, _ in table.values()) >= 1
    assert '"role"' not in done.stdout
    assert "of budget" in done.stderr


def test_a_pipe_gets_the_transcripts(sessions: Path) -> None:
    done = foldline("compact", sessions, "--window", "8k")

    long, short = map(json.loads, done.stdout.splitlines())
    assert (long["id"], short["id"]) == ("long", "short")
    assert any(RULE in message.text for message in FORMATS["openai"].parse(long["messages"]))


def test_a_file_gets_the_transcripts_in_a_terminal_too(sessions: Path, tmp_path: Path) -> None:
    output = tmp_path / "compacted.jsonl"

    done = foldline_in_terminal("compact", sessions, "--window", "8k", "--output", output)

    assert (done.returncode, done.stdout) == (ExitCode.DONE, "")
    assert [json.loads(line)["id"] for line in output.read_text("utf-8").splitlines()] == ["long", "short"]


def test_a_terminal_gets_no_control_characters_of_a_transcript(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Never print \x1b[31mred\x1b]0;title\x07 lines."}, *chat_session(3, turns=60)]

    done = foldline_in_terminal("compact", write_sessions(tmp_path / "s.jsonl", red=said), "--window", "4k")

    assert "lines." in done.stdout
    assert "\x1b]" not in done.stdout
    assert "\x1b[31m" not in done.stdout
