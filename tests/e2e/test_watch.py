"""`foldline watch`: a service as its user sees it from another terminal."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.support.eventually import eventually
from tests.support.processes.daemons import START_SECONDS, daemon
from tests.support.processes.http import client
from tests.support.processes.program import foldline, started
from tests.support.processes.terminal import live_screen

LISTENING = r"listening on (http://127\.0\.0\.1:\d+)"


def test_a_session_is_watched_until_ctrl_c_also_while_its_service_is_away(tmp_path: Path) -> None:
    variables = {"FOLDLINE_DATABASE_URL": f"sqlite:///{tmp_path}/foldline.db"}
    with daemon(tmp_path, "serve", "--port", "0", until=LISTENING, variables=variables) as running:
        url = running.ready.removeprefix("listening on ")
        assert "No sessions yet" in foldline("watch", "--once", "--url", url).stdout

        with client(url) as service:
            for name in ("first", "second"):
                service.post("/sessions", json={"id": name, "model": "openai/gpt-4o", "context_window": 4000})
                messages = [{"role": role, "content": "word " * 300} for role in ("user", "assistant") * 6]
                assert service.post(f"/sessions/{name}/messages", json={"messages": messages}).status_code == 201
            # As its url may be given, and not to a terminal.
            done = foldline("watch", "--url", url.removeprefix("http://"))
            lines = done.stdout.splitlines()
            assert (done.returncode, lines[:2]) == (0, [url, "second"])
            assert "openai/gpt-4o · window 4,000 · 12 messages" in lines
            saved = next(line for line in lines if line.startswith("history"))
            assert "tokens, of which the view saves " in saved
            assert any(line.startswith("first  openai/gpt-4o ") for line in lines)

            with live_screen("watch", "--url", url, "--interval", "0.1") as screen:
                screen.until("12 messages")
                service.post("/sessions/first/messages", json={"messages": [{"role": "user", "content": "More."}]})
                screen.until("13 messages")
                running.stop()
                screen.until("Trying again.")
                assert screen.interrupt() == 0
        assert "Traceback" not in screen.shown


def test_a_run_is_found_by_its_folder_while_it_runs(tmp_path: Path) -> None:
    lock = tmp_path / "gateway.lock"
    with started("run", "--data", tmp_path, "--", "sleep", "60") as run:
        try:
            eventually(lambda: lock.exists() and lock.read_text(), START_SECONDS)
            url = lock.read_text().strip()
            done = foldline("watch", "--once", "--data", tmp_path)
        finally:
            # Its service is no child of this process: it ends the one that it started.
            run.send_signal(signal.SIGTERM)
            code = run.wait(30)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, url)
    assert (code, lock.read_text()) == (128 + signal.SIGTERM, "")
    done = foldline("watch", "--once", "--data", tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"no `foldline run` with its data in {tmp_path} is running" in done.stderr
