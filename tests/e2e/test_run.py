"""`foldline run`: an agent that knows nothing of Foldline, through a private service."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from stack.services.ports import free_port
from tests.support.eventually import eventually
from tests.support.processes.agent_provider import agent_provider

AGENT = """
import json, os, sys, urllib.request
said = [{"role": "user", "content": "Read all parts."}]
for number in range(int(sys.argv[1])):
    body = json.dumps({"model": "nobody/nothing", "max_tokens": 900, "messages": said}).encode()
    address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(address, body, {"Content-Type": "application/json", "x-api-key": "secret"})
    answer = json.load(urllib.request.urlopen(request))
    call = answer["content"][-1]["id"]
    said.append({"role": "assistant", "content": answer["content"]})
    said.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "word " * 800}]})
sys.exit(7)
"""


def test_an_agent_runs_through_a_private_service_and_keeps_its_exit_code(tmp_path: Path) -> None:
    port = str(free_port())
    with agent_provider() as provider:
        options = ("run", "--window", "16k", "--port", port, "--data", str(tmp_path / "data"), "--")
        agent = f"import os; assert os.environ['ANTHROPIC_BASE_URL'].endswith(':{port}/anthropic')\n{AGENT}"
        command = [sys.executable, "-m", "foldline.cli.main", *options, sys.executable, "-c", agent, "30"]
        environment = {**os.environ, "ANTHROPIC_BASE_URL": provider.url}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 7, done.stderr
    assert len(provider.requests) == 30
    assert max(len(json.dumps(request["messages"])) for request in provider.requests) < 16_000 * 5
    assert provider.headers[0]["x-api-key"] == "secret"
    assert "foldline: 30 requests, " in done.stderr
    assert " 0 compactions" not in done.stderr
    assert (tmp_path / "data" / "gateway.db").exists()


def test_an_agent_behind_a_proxy_reaches_the_service_without_it(tmp_path: Path) -> None:
    agent = (
        "import os, urllib.request as r; print(r.urlopen(os.environ['FOLDLINE_URL'] + '/readyz').status, "
        "os.environ['NO_PROXY'], os.environ['no_proxy'])"
    )
    options = ("run", "--data", str(tmp_path), "--", sys.executable, "-c", agent)
    command = [sys.executable, "-m", "foldline.cli.main", *options]
    given = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {**given, "HTTP_PROXY": f"http://127.0.0.1:{free_port()}", "NO_PROXY": "git.example"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["200", *["git.example,127.0.0.1,localhost"] * 2], done.stderr


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "foldline.cli.main", "run", "--data", str(tmp_path), "--", "no-such-agent"]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "no-such-agent: No such file" in done.stderr) == (127, True)


@pytest.mark.parametrize(("window", "said"), [("abc", "must be a positive number"), ("1k", "at least 2,000 tokens")])
def test_a_window_that_cannot_be_is_refused_with_the_reason(tmp_path: Path, window: str, said: str) -> None:
    options = ("run", "--window", window, "--data", str(tmp_path), "--", "true")
    command = [sys.executable, "-m", "foldline.cli.main", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_a_shadow_says_what_would_have_been_saved_and_why_requests_went_on_as_they_came(tmp_path: Path) -> None:
    with agent_provider() as provider:
        for options, said in (
            (("--window", "16k", "--shadow"), "input tokens would have been saved"),
            ((), "As they came: 25 without a view: no window is known for their model"),
        ):
            given = ("run", *options, "--data", str(tmp_path / said[:3]), "--", sys.executable, "-c", AGENT, "25")
            command = [sys.executable, "-m", "foldline.cli.main", *given]
            environment = {**os.environ, "ANTHROPIC_BASE_URL": provider.url}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
            assert said in done.stderr


def test_a_run_that_is_terminated_says_what_it_did_and_leaves_nothing_running(tmp_path: Path) -> None:
    waits = (
        "import os, time; print(os.environ['OPENAI_BASE_URL'], os.environ['FOLDLINE_URL'], flush=True); time.sleep(600)"
    )
    options = ("run", "--data", str(tmp_path), "--", sys.executable, "-c", waits)
    command = [sys.executable, "-m", "foldline.cli.main", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        address, url = run.stdout.readline().split()
        assert address == f"{url}/openai/v1"
        eventually(lambda: httpx.get(f"{url}/readyz").is_success)
        run.terminate()
        # The pipe ends once nobody has it, the agent included.
        assert run.stdout.read() == ""
        assert run.wait(30) == 128 + signal.SIGTERM
        assert "foldline: no request came" in run.stderr.read()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
