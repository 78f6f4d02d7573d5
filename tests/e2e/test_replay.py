from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.faulty_service import Script, faulty_service
from tests.support.program import REPOSITORY, foldline, started
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions
from tests.support.scripted_llm import ScriptedLLM, slow

CORPUS = REPOSITORY.parent / "shared" / "corpus"
SECONDS_FOR_A_FILE = 300

pytestmark = pytest.mark.timeout(SECONDS_FOR_A_FILE)


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return write_sessions(
        tmp_path / "sessions.jsonl",
        coding=coding_session(1, turns=8),
        anthropic=anthropic_session(2, turns=10),
        chat=chat_session(3, turns=20),
    )


def test_generated_sessions_replay_without_violations(sessions: Path, tmp_path: Path) -> None:
    report_file = tmp_path / "report.json"

    done = foldline("replay", sessions, "--window", "5000", "--json", report_file)

    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout + done.stderr
    assert done.returncode == 0
    report = json.loads(report_file.read_bytes())
    assert report["sessions"] == 3
    assert report["compactions"] > 3
    assert report["jobs_by_state"].get("succeeded", 0) > 0
    assert report["tokens_with"] < report["tokens_without"]
    assert report["latency_seconds"].keys() == {"append", "context"}


def test_asked_compactions_are_timed(sessions: Path, tmp_path: Path) -> None:
    report_file = tmp_path / "report.json"

    done = foldline(
        "replay", sessions, "--window", "5000", "--session", "coding", "--compact-every", "10", "--json", report_file
    )

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(report_file.read_bytes())
    assert report["latency_seconds"]["compact"]["requests"] >= 2
    assert [session["id"] for session in report["per_session"]] == ["coding"]


def test_a_turn_never_waits_for_a_slow_summarizer(sessions: Path) -> None:
    delay_seconds = 5.0

    with ScriptedLLM(default=slow(delay_seconds)) as llm:
        done = foldline(
            "replay", sessions, "--window", "5000", "--session", "coding", "--compact-every", "10",
            "--summarizer-base-url", llm.base_url, "--summarizer-model", "scripted",
            "--slowest", str(0.2 * delay_seconds),
        )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(llm.requests) >= 2
    assert "slowest request" in done.stderr


def test_an_interrupted_replay_leaves_no_service_behind(sessions: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with ScriptedLLM(default=slow(30)) as llm:
        command = (
            "replay", sessions, "--window", "5000", "--session", "coding",
            "--summarizer-base-url", llm.base_url, "--summarizer-model", "scripted",
        )  # fmt: skip
        with started(*command, TMPDIR=str(scratch)) as process:
            eventually(lambda: llm.requests, seconds=60)
            assert list(scratch.iterdir())
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130

        eventually(lambda: llm.disconnects, seconds=30)
    assert list(scratch.iterdir()) == []


def test_a_service_that_breaks_a_promise_ends_with_exit_code_1(sessions: Path) -> None:
    with faulty_service(Script(owed_tokens=7, limit=1000)) as url:
        done = foldline("replay", sessions, "--window", "8000", "--session", "chat", "--patience", "0", "--url", url)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("violations: ")
    assert "7 tokens stay owed" in done.stdout


def test_a_request_that_is_too_slow_ends_with_exit_code_1(sessions: Path) -> None:
    with faulty_service(Script()) as url:
        done = foldline("replay", sessions, "--window", "8000", "--session", "chat", "--slowest", "0", "--url", url)

    assert done.stdout.splitlines()[-1] == "violations: 0"
    assert "slowest request" in done.stderr
    assert done.returncode == 1


def test_a_service_that_is_not_there_ends_with_exit_code_3(sessions: Path) -> None:
    done = foldline("replay", sessions, "--window", "8000", "--url", "http://127.0.0.1:9")

    assert done.returncode == 3
    assert "Is the service running?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_with_an_error_ends_with_exit_code_2_and_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('[{"role": "user", "content": "hello"}]\n[{"role": "user"\n', encoding="utf-8")

    done = foldline("replay", path, "--window", "8000")

    assert done.returncode == 2
    assert f"{path}, line 2, column" in done.stderr


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded sessions are not beside this repository")
@pytest.mark.parametrize(
    ("name", "window", "count"),
    [
        ("tau-bench-airline.jsonl", 8000, 4),
        ("swe-agent.jsonl", 8000, 5),
        ("crosswoz-zh.jsonl", 800, 4),
        ("openhands-sdk.jsonl", 8000, 2),
    ],
)
def test_recorded_sessions_replay_without_violations(name: str, window: int, count: int) -> None:
    done = foldline("replay", CORPUS / name, "--window", str(window), "--limit-sessions", str(count))

    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout + done.stderr
    assert done.returncode == 0
