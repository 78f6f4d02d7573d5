"""`foldline import`, `export` and `compact` without a file, as their user runs them, on a database or a service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_serve import serving
from tests.support.pi_files import Json, answer, chain, compaction, file_of, lines_of, said, user
from tests.support.processes.http import client
from tests.support.processes.program import REPOSITORY, foldline
from tests.support.recorded import chat_session, write_sessions

pytestmark = pytest.mark.timeout(180)

CORPUS = REPOSITORY.parent / "shared" / "corpus" / "pi-large-session.raw.jsonl"
ENTRIES = [
    *chain(user("u1"), answer("a1"), user("u2"), compaction("k", "u2")),
    *chain(user("u3"), after="a1"),
]


@pytest.fixture(autouse=True)
def database_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where there is no database yet."""
    url = f"sqlite:///{tmp_path}/foldline.db"
    monkeypatch.setenv("FOLDLINE_DATABASE_URL", url)
    return url


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "talk.jsonl", ENTRIES, id="talk")


def written(path: Path, entries: list[Json], **header: str) -> Path:
    path.write_text(file_of(entries, **header), encoding="utf-8")
    return path


def long_talk(path: Path, name: str = "long") -> Path:
    """A file with about 24,000 tokens; a requested summary under pi's preset covers a third of them."""
    text = "so it goes on and on " * 100
    turns = [
        said(f"{role}{n}", role, content=[{"type": "text", "text": text}])
        for n in range(24)
        for role in ("user", "assistant")
    ]
    return written(path, chain(*turns), id=name)


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    done = foldline(*arguments, timeout_seconds=120)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def refusal(*arguments: str | Path, code: int = 2) -> str:
    """The error of a command that fails, as one line."""
    found, stdout, stderr = run(*arguments)
    assert (found, stdout) == (code, ""), stderr
    return " ".join(stderr.split())


def ran(*arguments: str | Path) -> str:
    """What a command that does well prints to stdout."""
    code, stdout, stderr = run(*arguments)
    assert code == 0, stderr
    return stdout


def cells(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines()]


def test_an_import_prints_the_id_and_a_table_and_makes_the_database(tmp_path: Path, file: Path) -> None:
    code, stdout, stderr = run("import", file)
    assert (code, stdout) == (0, "talk\n")
    assert cells(stderr) == [
        ["session", "entries", "messages", "branches", "compactions"],
        ["talk", "5", "4", "2", "1"],
    ]
    assert (tmp_path / "foldline.db").exists()


def test_a_session_is_imported_once(file: Path) -> None:
    ran("import", file)
    assert ran("import", file, "--session", "twin") == "twin\n"
    error = refusal("import", file)
    assert "'talk' is used already" in error
    assert "--session" in error


def test_what_is_imported_is_exported_as_it_was(tmp_path: Path, file: Path) -> None:
    ran("import", file)
    output = tmp_path / "out.jsonl"
    assert ran("export", "talk") == file.read_text()
    assert ran("export", "talk", "-o", output) == ""
    assert output.read_bytes() == file.read_bytes()
    assert "cannot write" in refusal("export", "talk", "-o", tmp_path / "no" / "out.jsonl")


def test_stdin_is_a_file_too(file: Path) -> None:
    command = [sys.executable, "-m", "foldline.cli.main", "import", "-"]
    done = subprocess.run(
        command, cwd=REPOSITORY, input=file.read_bytes() + b"{\n", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, b"stdin: line 7: not JSON" in done.stderr) == (2, True)
    done = subprocess.run(command, cwd=REPOSITORY, input=file.read_bytes(), capture_output=True, timeout=60, check=True)
    assert done.stdout == b"talk\n"


def test_options_go_before_what_the_file_says(file: Path) -> None:
    ran("import", file, "--model", "nobody/none", "--window", "32k", "--policy", "foldline", "--tenant", "ann")
    header = lines_of(ran("export", "talk", "--tenant", "ann"))[0]
    assert header == lines_of(file.read_text())[0]
    assert "there is no session 'talk'" in refusal("export", "talk")
    code, _, stderr = run("compact", "--tenant", "ann", "--dry-run")
    assert (code, ["session", "talk"] in cells(stderr)) == (0, True)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--model", "nobody/none"), "give --window, or name it"),
        (("--window", "huge"), "talk.jsonl: --window: "),
        (("--policy", "none"), "there is no preset 'none'"),
    ],
)
def test_an_option_that_cannot_work_imports_nothing(file: Path, options: tuple[str, str], error: str) -> None:
    ran("import", file, "--session", "twin")
    assert error in refusal("import", file, *options)
    assert "there is no session 'talk'" in refusal("export", "talk")


def test_an_invalid_file_is_reported_with_the_line(tmp_path: Path, file: Path) -> None:
    file.write_text(file.read_text() + "\n{}\n")
    assert "talk.jsonl: line 8: entry.type" in refusal("import", file)
    assert "cannot read" in refusal("import", tmp_path / "nowhere.jsonl")
    file.write_bytes(file.read_bytes().replace(b"a1", b"\xff", 1))
    assert "talk.jsonl: line 3: not UTF-8" in refusal("import", file)


def test_a_byte_order_mark_is_no_part_of_the_header(file: Path) -> None:
    text = file.read_text()
    file.write_text(f"\ufeff{text}")
    ran("import", file)
    assert ran("export", "talk") == text


def test_a_file_that_names_no_model_needs_one(tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "bare"}
    file = tmp_path / "bare.jsonl"
    file.write_text(f"{json.dumps(header)}\n")
    assert "bare.jsonl: --model: is not in the file" in refusal("import", file)


def test_a_missing_database_is_reported() -> None:
    for command in (("export", "talk"), ("compact", "--dry-run")):
        assert "there is no database at" in refusal(*command, code=3)


def test_a_missing_session_is_reported(file: Path) -> None:
    ran("import", file, "--tenant", "ann")
    assert "`foldline import FILE`" in refusal("compact", "--dry-run")
    for command in (("export", "x"), ("compact", "--dry-run", "--session", "x"), ("compact", "--session", "x")):
        assert "there is no session 'x'" in refusal(*command)


def test_a_dry_run_reports_that_there_is_nothing_to_summarize_in_the_newest_session(tmp_path: Path, file: Path) -> None:
    ran("import", long_talk(tmp_path / "long.jsonl"))
    ran("import", file)
    code, stdout, stderr = run("compact", "--dry-run")
    assert (code, stdout) == (0, "null\n")
    assert cells(stderr)[0] == ["session", "talk"]
    assert "to summarize nothing to summarize" in " ".join(stderr.split())


def test_a_dry_run_shows_where_a_summary_would_cut(tmp_path: Path) -> None:
    ran("import", long_talk(tmp_path / "long.jsonl"))
    before = ran("export", "long")

    code, stdout, stderr = run("compact", "--dry-run", "--session", "long")
    cut = json.loads(stdout)
    assert (code, cut["first_entry_id"], cut["is_split_turn"]) == (0, "e0-1", True)
    assert (cut["replaces"], cut["turn_prefix_messages"]) == ([], 1)
    first_kept = int(cut["first_kept_entry_id"].removeprefix("e0-"))
    assert cut["messages"] == first_kept - 2 > 10
    rows = {line[:17].strip(): line[17:].split() for line in stderr.splitlines()}
    assert rows["session"] == ["long"]
    assert rows["first kept entry"] == [str(first_kept - 1), cut["first_kept_entry_id"]]
    assert rows["to summarize"][:2] == [str(first_kept - 2), "messages"]
    assert rows["turn start"][:2] == [str(first_kept - 2), f"{cut['turn_start_entry_id']},"]
    assert ran("export", "long") == before

    # All that pi keeps of it would be more than such a window.
    small = json.loads(ran("compact", "--dry-run", "--session", "long", "--window", "20k"))
    assert int(small["first_kept_entry_id"].removeprefix("e0-")) > first_kept


def test_a_stored_session_is_compacted_and_its_summary_queued(tmp_path: Path) -> None:
    ran("import", long_talk(tmp_path / "long.jsonl"))
    code, stdout, stderr = run("compact", "--session", "long", "--policy", "foldline", "--target", "9000")
    report = json.loads(stdout)
    assert (code, report["session"]) == (0, "long")
    assert report["tokens_before"] > 20_000
    assert report["tokens_after"] <= 9_000
    assert ["tokens_after", str(report["tokens_after"])] in cells(stderr)
    (made,) = [line for line in lines_of(ran("export", "long"))[1:] if line["type"] != "message"]
    assert (made["customType"], report["compactions"]) == ("foldline.compaction", [made["id"]])
    assert ran("jobs", "list").splitlines()[1].split()[0] == report["job"]
    assert stderr.splitlines()[-1] == "The job waits for whoever works on this database, such as `foldline serve`."


def test_a_compaction_that_queues_no_job_reports_none(tmp_path: Path) -> None:
    ran("import", long_talk(tmp_path / "long.jsonl"))
    code, stdout, stderr = run("compact", "--session", "long", "--no-summarize")
    assert (code, json.loads(stdout)["job"]) == (0, None)
    assert "waits" not in stderr


def test_a_transcript_is_rehearsed_without_being_written(tmp_path: Path) -> None:
    transcript = write_sessions(tmp_path / "s.jsonl", chat=chat_session(3, turns=60))
    code, stdout, stderr = run("compact", transcript, "--window", "4k", "--dry-run", "-o", tmp_path / "out.jsonl")
    assert (code, stdout) == (0, "")
    assert "chat" in stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_service_imports_and_exports(tmp_path: Path, file: Path) -> None:
    with serving(tmp_path) as (_, url):
        code, stdout, stderr = run("import", file, "--url", url)
        assert (code, stdout, cells(stderr)[1]) == (0, "talk\n", ["talk", "5", "4", "2", "1"])
        assert ran("export", "talk", "--url", url) == file.read_text()
        given = ("--session", "twin", "--model", "nobody/none", "--window", "32k", "--policy", "pi@program")
        assert ran("import", file, "--url", url.removeprefix("http://"), *given) == "twin\n"
        with client(url) as connected:
            twin = connected.get("/sessions/twin").json()
        assert (twin["model"], twin["context_window"], twin["policy"]["preset"]) == (
            "nobody/none",
            32_000,
            "pi@program",
        )
        assert "there is no session 'x'" in refusal("export", "x", "--url", url)


def test_a_service_refuses_what_the_database_would_in_the_same_words(tmp_path: Path, file: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(file.read_text() + "{\n")
    garbled = tmp_path / "garbled.jsonl"
    garbled.write_bytes(file.read_bytes() + b"\xff\n")
    with serving(tmp_path) as (_, url):
        ran("import", file, "--url", url)
        for name in (file, broken, garbled):
            assert refusal("import", name, "--url", url) == refusal("import", name)
        for option in (("--model", "nobody/none"), ("--window", "0")):
            given = ("--session", "twin", *option)
            assert refusal("import", file, *given, "--url", url) == refusal("import", file, *given)


def test_a_service_with_keys_wants_one(tmp_path: Path, file: Path) -> None:
    with serving(tmp_path, {"FOLDLINE_API_KEYS": "ann:secret-of-ann-000"}) as (_, url):
        for command in (("import", file), ("export", "talk")):
            assert "--api-key" in refusal(*command, "--url", url)
        assert ran("import", file, "--url", url, "--api-key", "secret-of-ann-000") == "talk\n"
        assert ran("export", "talk", "--url", url, "--api-key", "secret-of-ann-000") == file.read_text()


def test_a_service_that_does_not_answer_is_reported(file: Path) -> None:
    assert "Is the service running?" in refusal("import", file, "--url", "http://127.0.0.1:1", code=3)


@pytest.mark.skipif(not CORPUS.is_file(), reason="needs ../shared")
def test_a_real_session_is_cut_where_pi_cuts_it() -> None:
    name = ran("import", CORPUS).strip()
    assert lines_of(ran("export", name)) == [json.loads(line) for line in CORPUS.read_text().splitlines()]
    cut = json.loads(ran("compact", "--preset", "pi@program", "--window", "200000", "--dry-run"))
    assert (cut["first_kept_entry_id"], cut["turn_start_entry_id"], cut["is_split_turn"]) == ("e0-838", "e0-835", True)
    assert (cut["messages"], cut["turn_prefix_messages"], cut["context_tokens"]) == (730, 3, 177_657)
