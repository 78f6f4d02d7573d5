"""`foldline replay` as its user runs it: generated and recorded sessions to their end, and what can go wrong."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.client import Client
from foldline.engine.formats import FORMATS
from foldline.engine.policies.presets import PRESETS
from foldline.engine.wire import dumps
from foldline.replay.drive import Drive
from foldline.replay.embedded import embedded_service
from foldline.replay.options import Options
from foldline.replay.record import ReplayFigures
from foldline.replay.transcripts import Transcript, read_transcripts
from tests.support.eventually import eventually
from tests.support.pictures import picture
from tests.support.processes.api import open_api
from tests.support.processes.databases import only_sqlite
from tests.support.processes.faulty_service import Script, faulty_service
from tests.support.processes.http import get
from tests.support.processes.program import REPOSITORY, foldline, started, started_anew
from tests.support.processes.scripted_llm import ScriptedLLM, slow
from tests.support.recorded import (
    NON_LATIN_WORDS,
    READ_FILE,
    anthropic_session,
    chat_session,
    coding_session,
    write_sessions,
)

database_kind = only_sqlite

CORPUS = REPOSITORY.parent / "shared" / "corpus"
# The longest file takes a quarter of a minute where nothing else runs.
SECONDS_FOR_A_FILE = 300

# One file more than a test replays: the program's own limit shall be met first, and shows what it printed.
pytestmark = pytest.mark.timeout(2 * SECONDS_FOR_A_FILE)


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

    done = started_anew("replay", sessions, "--window", "5000", "--json", report_file)

    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout + done.stderr
    assert done.returncode == 0
    report = json.loads(report_file.read_bytes())
    assert report["sessions"] == 3
    assert report["compactions"] > 3
    assert report["jobs_by_state"].get("succeeded", 0) > 0
    assert report["tokens_with"] < report["tokens_without"]
    assert report["items_by_kind"]["read"]["kept"] > 0
    assert "recallable" in done.stdout
    assert report["latency_seconds"].keys() == {"append", "context"}


def test_requested_compactions_are_timed(sessions: Path, url: str, tmp_path: Path) -> None:
    done, report = replayed(
        sessions, 5000, url, tmp_path / "report.json", "--session", "coding", "--compact-every", "10"
    )  # fmt: skip

    assert done.returncode == 0
    assert report["latency_seconds"]["compact"]["requests"] >= 2
    assert [session["id"] for session in report["per_session"]] == ["coding"]


def test_no_request_waits_for_a_slow_summarizer(sessions: Path, tmp_path: Path) -> None:
    report_file = tmp_path / "report.json"
    delay_seconds = 3.0

    with ScriptedLLM(default=slow(delay_seconds)) as llm:
        done = foldline(
            "replay", sessions, "--window", "5000", "--session", "coding", "--compact-every", "10",
            "--summarizer-base-url", llm.base_url, "--summarizer-model", "scripted",
            "--slowest", str(delay_seconds / 3), "--json", report_file,
        )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "violations: 0"
    assert "slowest request" in done.stderr
    report = json.loads(report_file.read_bytes())
    assert report["latency_seconds"].keys() == {"append", "context", "compact"}
    assert report["jobs_by_state"]["succeeded"] >= 2
    assert len(llm.requests) >= 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_replay_leaves_no_service_behind(sessions: Path, tmp_path: Path, number: signal.Signals) -> None:
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
            process.send_signal(number)
            assert process.wait(60) == 130

        eventually(lambda: llm.disconnects, seconds=30)
    assert list(scratch.iterdir()) == []


def test_a_service_that_breaks_a_promise_ends_with_exit_code_1(sessions: Path) -> None:
    with faulty_service(Script(pending_tokens=7, limit=1000)) as url:
        done = foldline("replay", sessions, "--window", "8000", "--session", "chat", "--patience", "0", "--url", url)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("violations: ")
    assert "7 tokens stay pending" in done.stdout


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


def test_a_service_with_keys_requires_one(sessions: Path, database: str) -> None:
    with open_api(database, api_keys="acme:secret-of-acme-0") as api:
        address = api.client.base_url.netloc.decode()
        command = ("replay", sessions, "--window", "128k", "--session", "chat", "--url", address)
        refused = foldline(*command)
        taken = foldline(*command, "--api-key", "secret-of-acme-0")

    assert refused.returncode == 2
    assert "give --api-key" in refused.stderr
    assert (taken.returncode, taken.stdout.splitlines()[-1]) == (0, "violations: 0")


NOTE = re.compile(r"^(\S+) \((s_\w+)\): (\d+)% of the budget in use \([\d,]+ of [\d,]+ tokens\)$", re.MULTILINE)


def test_a_note_says_when_a_session_passes_60_percent_and_a_warning_when_it_passes_80(
    sessions: Path, url: str, tmp_path: Path
) -> None:
    done, report = replayed(sessions, 5000, url, tmp_path / "report.json", "--session", "coding")

    (session,) = report["per_session"]
    notes = NOTE.findall(done.stderr)
    assert {(name, session_id) for name, session_id, _ in notes} == {("coding", session["session_id"])}
    shares = [int(share) for *_, share in notes]
    assert min(shares) in range(60, 80)
    warnings = sum(share >= 80 for share in shares)
    assert warnings == session["usage_crossings"]["warning"] > 1
    assert warnings < len(notes) <= sum(session["usage_crossings"].values())
    assert len(notes) < session["model_calls"]
    outcomes = "\n  Compacted at once, to ", "\n  A summary is on its way."
    assert sum(map(done.stderr.count, outcomes)) > 1


def test_a_compact_threshold_is_the_trigger_of_the_sessions(sessions: Path, url: str, tmp_path: Path) -> None:
    done, report = replayed(sessions, 12_000, url, tmp_path / "report.json", "--compact-threshold", "0.4")

    (created, *_) = [session["session_id"] for session in report["per_session"]]
    policy = get(f"{url}/sessions/{created}").json()["policy"]
    assert policy["trigger"] == 0.4
    assert policy["target"] == pytest.approx(0.4 * 0.20 / 0.80)
    shares = [int(share) for *_, share in NOTE.findall(done.stderr)]
    assert min(shares) in range(40, 60)
    assert report["usage_crossings"].keys() == {"warning"}
    assert report["fill_after_compaction"] < 0.4


def test_disabled_compaction_lets_sessions_grow_and_says_nothing(sessions: Path, url: str, tmp_path: Path) -> None:
    done, report = replayed(sessions, 5000, url, tmp_path / "report.json", "--disable-compaction")

    assert done.returncode == 0
    assert done.stderr.strip() == ""
    assert (report["compactions"], report["jobs_by_state"]) == (0, {})
    # The views are whole; a call in another format may take a token more or less than as it was said.
    assert report["tokens_with"] == pytest.approx(report["tokens_without"], rel=0.01)
    coding, *_ = report["per_session"]
    assert coding["views_over_budget"] > 1
    assert coding["listed"] == [f"{coding['views_over_budget']} views did not fit: compaction is disabled"]
    assert get(f"{url}/sessions/{coding['session_id']}").json()["auto_compact"] is False


def test_disabled_compaction_still_compacts_on_request(sessions: Path, url: str, tmp_path: Path) -> None:
    _, report = replayed(
        sessions, 5000, url, tmp_path / "report.json", "--disable-compaction", "--compact-every", "5"
    )  # fmt: skip

    assert report["compactions"] > 0
    assert "trigger" not in report["compactions_by_reason"]


@pytest.mark.parametrize("threshold", ["0", "-0.1", "1.5", "nan"])
def test_a_threshold_that_cannot_be_ends_with_exit_code_2_before_anything_is_read(threshold: str) -> None:
    done = foldline("replay", "not-there.jsonl", "--window", "8000", f"--compact-threshold={threshold}")

    assert done.returncode == 2
    assert "--compact-threshold must be a share of the budget, above 0 to 1" in done.stderr


def test_a_policy_that_the_service_refuses_ends_with_exit_code_2_and_says_what_to_do(sessions: Path, url: str) -> None:
    done = foldline(
        "replay", sessions, "--window", "8000", "--url", url, "--policy", "of-tomorrow", "--compact-threshold", "0.4"
    )

    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "the service refuses the policy: policy.preset: 'of-tomorrow' is no preset" in said
    assert "Give another --policy" in said


def test_a_window_too_small_for_any_session_ends_with_exit_code_1(sessions: Path, url: str) -> None:
    done = foldline("replay", sessions, "--window", "30", "--url", url)

    assert done.returncode == 1
    assert "no session could be created" in done.stderr
    assert done.stdout.splitlines()[-1] == "violations: 0"


def test_a_file_with_an_error_ends_with_exit_code_2_and_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('[{"role": "user", "content": "hello"}]\n[{"role": "user"\n', encoding="utf-8")

    done = foldline("replay", path, "--window", "8000")

    assert done.returncode == 2
    assert f"{path}, line 2, column" in done.stderr


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A service for all the files."""
    with embedded_service() as url:
        yield url


def replayed(
    file: Path, window: int, url: str, report_file: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], Any]:
    """How the replay of a whole file ended, and its report."""
    done = foldline(
        "replay", file, "--window", str(window), "--url", url, "--json", report_file, *options,
        timeout_seconds=SECONDS_FOR_A_FILE,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout + done.stderr
    return done, json.loads(report_file.read_bytes())


GENERATED: dict[str, tuple[int, dict[str, Any]]] = {
    "dialogue in other scripts": (
        800,
        {f"dialogue-{seed}": chat_session(seed, turns=30, length=20, words=NON_LATIN_WORDS) for seed in (1, 2, 3)},
    ),
    "plain text turns": (
        8_000,
        {"long": chat_session(4, turns=30, length=500), "short": chat_session(5, turns=150, length=60)},
    ),
    "coding agent": (
        16_000,
        {"tools": [READ_FILE], "coding": coding_session(6, turns=20, calls=6)},
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "coding agent" else pytest.mark.thorough) for name in GENERATED]
)
def test_whole_generated_sessions_replay_without_violations(name: str, url: str, tmp_path: Path) -> None:
    window, sessions = GENERATED[name]
    file = write_sessions(tmp_path / "sessions.jsonl", **sessions)

    done, report = replayed(file, window, url, tmp_path / "report.json")

    assert done.returncode == 0, done.stdout + done.stderr
    assert report["listed"] == []
    for session in report["per_session"]:
        assert session["appended_tokens"] > 2 * window
        assert session["compactions"] >= 2
    assert report["fill_after_compaction"] >= 0.6 * PRESETS["foldline"].target


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> list[Transcript]:
    """A coding agent that reads files again and again, and a dialogue."""
    file = write_sessions(
        tmp_path_factory.mktemp("sessions") / "sessions.jsonl",
        tools=[READ_FILE],
        coding=coding_session(7, turns=6, calls=4),
        prose=chat_session(8, turns=15, length=200),
    )
    return read_transcripts(file, None)


@pytest.mark.parametrize("compact_every", [0, pytest.param(5, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_replays_without_violations(
    preset: str, compact_every: int, transcripts: list[Transcript], url: str
) -> None:
    options = Options("openai/gpt-4o", 3_000, preset, compact_every)

    with Client(url) as service:
        drives = [
            Drive(service, transcript, options, lambda _count: None, lambda _text, _style: None)
            for transcript in transcripts
        ]
        figures = ReplayFigures([drive.run() for drive in drives], service.seconds)

    assert figures.violations == figures.listed == []
    for record in figures.sessions:
        assert record.appended_tokens > 2 * record.limit
        assert len(record.compactions) >= 2
        assert record.tokens_with < record.tokens_without


@pytest.mark.parametrize(
    ("format_name", "model"),
    [
        ("responses", "openai/gpt-5"),
        ("gemini", "google/gemini-2.5-pro"),
        ("anthropic", "anthropic/claude-sonnet-4-5"),
        ("native", "openai/gpt-4o"),
    ],
)
def test_transcripts_of_every_format_replay_without_violations(
    format_name: str, model: str, url: str, tmp_path: Path
) -> None:
    messages = FORMATS["openai"].parse(coding_session(9, turns=8, calls=4))
    wire = FORMATS[format_name].render(messages, None).messages
    file = tmp_path / "one.json"
    file.write_bytes(dumps({"format": format_name, "system": "be brief", "messages": wire}))

    done, report = replayed(file, 4_000, url, tmp_path / "report.json", "--model", model)

    assert done.returncode == 0
    assert report["per_session"][0]["compactions"] >= 2


def test_views_are_read_in_the_formats_that_the_user_names(tmp_path: Path) -> None:
    file = write_sessions(tmp_path / "sessions.jsonl", chat=chat_session(3, turns=2))
    formats = ("--view-format", "gemini", "--view-format", "responses")
    with faulty_service(Script(spoil=lambda view: view["messages"].append({"role": "nobody"}))) as url:
        done = foldline("replay", file, "--window", "8000", "--url", url, *formats)
        wrong = foldline("replay", file, "--window", "8000", "--url", url, "--view-format", "cohere")
    assert "gemini view: " in done.stdout
    assert "responses view: " in done.stdout
    assert "openai view: " not in done.stdout
    assert (wrong.returncode, wrong.stderr.partition(";")[0]) == (
        2,
        "foldline: --view-format: there is no format 'cohere'",
    )


def test_screenshots_replay_without_violations(url: str, tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "look at each page"}]
    for number in range(25):
        source = {"type": "base64", "media_type": "image/gif", "data": picture(2_400, 400_000, number)}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [{"type": "image", "source": source}]}
        call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"page": number}}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    file = tmp_path / "one.json"
    file.write_bytes(dumps({"messages": messages}))

    done, report = replayed(file, 200_000, url, tmp_path / "report.json", "--model", "anthropic/claude-sonnet-4-5")

    assert done.returncode == 0
    assert report["per_session"][0]["compactions"] >= 1
    assert report["per_session"][0]["most_images"] == 20


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the recorded sessions are not beside this repository")
@pytest.mark.parametrize(
    ("name", "window", "sessions"),
    [
        pytest.param("claude-code-spotter", 32_000, 2, marks=pytest.mark.thorough),
        ("tau-bench-airline", 8_000, 6),
        ("swe-agent", 8_000, 3),
        ("crosswoz-zh", 800, 8),
        pytest.param("pi-mono", 32_000, 1, marks=pytest.mark.thorough),
        pytest.param("claude-code-spotter", 32_000, 5, marks=pytest.mark.thorough),
        pytest.param("tau-bench-airline", 8_000, 30, marks=pytest.mark.thorough),
        pytest.param("swe-agent", 8_000, 5, marks=pytest.mark.thorough),
        pytest.param("crosswoz-zh", 800, 19, marks=pytest.mark.thorough),
    ],
)
def test_whole_recorded_sessions_replay_without_violations(
    name: str, window: int, sessions: int, url: str, tmp_path: Path
) -> None:
    report_file = tmp_path / "report.json"
    done, report = replayed(CORPUS / f"{name}.jsonl", window, url, report_file, "--limit-sessions", str(sessions))

    assert done.returncode == 0, done.stdout + done.stderr
    assert report["sessions"] == sessions
    assert report["compactions"] > 0
    assert report["fill_after_compaction"] >= 0.6 * PRESETS["foldline"].target
