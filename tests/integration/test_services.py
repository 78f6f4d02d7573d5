"""The servers that tests and the stack stand on, and the stack: started, stopped, killed and frozen as processes."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from textwrap import dedent
from time import monotonic

import httpx
import psutil
import psycopg
import pytest
import redis
from sqlalchemy import make_url

from stack.processes.guarded import DidNotStart, Guarded, Program
from stack.processes.members import RESTART_SECONDS, Member
from stack.processes.signs import Logs
from stack.processes.trees import is_gone
from stack.services import binaries, ports
from stack.services.servers import BackingService, NotOurs, postgres, valkey
from stack.services.users import server_user
from stack.stack import Stack
from tests.support.eventually import eventually
from tests.support.processes.program import REPOSITORY

STARTERS = {"postgres": postgres, "valkey": valkey}
Start = Callable[..., AbstractContextManager[BackingService]]
# With the packages that are here, whatever they are.
MAKE_STACK = ("make", "-o", ".venv/.ready", f"BIN={Path(sys.executable).parent}", "stack")
STACK = (sys.executable, "-m", "stack", "--workers", "0")
CTRL_C = b"\x03"
both = pytest.mark.parametrize("start", STARTERS.values(), ids=STARTERS)
each = pytest.mark.parametrize("starter", STARTERS)


@pytest.fixture(scope="module")
def shared() -> Iterator[Callable[[str], BackingService]]:
    """One service of each kind for the tests that leave it running."""
    with ExitStack() as running:
        yield cache(lambda starter: running.enter_context(STARTERS[starter](is_own=True)))


@pytest.fixture
def service(shared: Callable[[str], BackingService], starter: str) -> BackingService:
    return shared(starter)


@both
def test_a_service_answers_until_its_block_ends(start: Start) -> None:
    with start(is_own=True) as service:
        assert service.is_ready()
        processes = tree_of(service.pid)
        folder = Path(processes[0].cwd())

    assert not service.is_ready()
    assert all(map(is_gone, processes))
    assert not folder.exists()


@each
def test_a_killed_service_comes_back_at_its_address(service: BackingService) -> None:
    processes = tree_of(service.pid)

    service.kill()

    assert all(map(is_gone, processes))
    assert (service.pid, service.is_ready()) == (0, False)
    service.start()
    assert service.is_ready()
    assert service.pid not in {process.pid for process in processes}


@each
def test_a_frozen_service_takes_connections_and_is_silent_until_it_is_thawed(service: BackingService) -> None:
    service.freeze()
    connect(service.url)
    assert not service.is_ready()

    service.thaw()

    assert service.is_ready()


@both
def test_a_frozen_service_can_be_killed_and_stopped(start: Start) -> None:
    with start(is_own=True) as service:
        service.freeze()
        service.kill()
        assert service.pid == 0
        service.start()
        processes = tree_of(service.pid)
        service.freeze()

    assert all(map(is_gone, processes))


@pytest.mark.parametrize("starter", ["postgres"])
def test_postgres_keeps_what_was_committed_when_it_is_restarted_and_when_it_is_killed(service: BackingService) -> None:
    with connected(service) as connection:
        connection.execute("CREATE TABLE said (text TEXT)")
        connection.execute("INSERT INTO said VALUES ('first')")
    service.restart()
    with connected(service) as connection:
        connection.execute("INSERT INTO said VALUES ('second')")
    service.kill()
    service.start()
    with connected(service) as connection:
        assert connection.execute("SELECT text FROM said").fetchall() == [("first",), ("second",)]


def test_postgres_ends_while_clients_are_connected() -> None:
    with postgres(is_own=True) as database, connected(database) as connection:
        database.stop()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


@pytest.mark.parametrize(("is_durable", "value"), [(False, "off"), (True, "on")])
def test_a_durable_postgres_syncs_each_commit(*, is_durable: bool, value: str) -> None:
    with postgres(is_own=True, is_durable=is_durable) as database, connected(database) as connection:
        for name in ("fsync", "full_page_writes"):
            assert connection.execute(f"SHOW {name}").fetchone() == (value,)
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_durable_valkey_keeps_what_it_holds(*, is_durable: bool) -> None:
    with valkey(is_own=True, is_durable=is_durable) as broker, redis.Redis.from_url(broker.url) as client:
        client.set("said", "first")
        broker.restart()
        assert client.get("said") == (b"first" if is_durable else None)


@pytest.mark.skipif(server_user() is None, reason="not root: servers run as we do")
@each
def test_no_service_runs_as_root(service: BackingService) -> None:
    assert psutil.Process(service.pid).username() == server_user()


@pytest.mark.parametrize("starter", STARTERS)
def test_a_service_ends_with_a_parent_that_is_killed(starter: str) -> None:
    with parent_of(starter) as (parent, url, pid):
        processes, folder = tree_of(pid), Path(psutil.Process(pid).cwd())

        parent.kill()
        parent.wait()

        eventually(lambda: all(map(is_gone, processes)))
        eventually(lambda: not folder.exists())
        with pytest.raises(ConnectionRefusedError):
            connect(url)


def test_a_frozen_service_ends_with_a_parent_that_is_killed() -> None:
    with parent_of("valkey") as (parent, _, pid):
        processes = tree_of(pid)
        os.kill(pid, signal.SIGSTOP)

        parent.kill()
        parent.wait()

        eventually(lambda: all(map(is_gone, processes)))


def test_ctrl_c_reaches_the_parent_and_not_its_service() -> None:
    with parent_of("valkey") as (parent, _, pid):
        children = psutil.Process(parent.pid).children(recursive=True)

        assert pid in {child.pid for child in children}
        assert os.getpgid(parent.pid) not in {os.getpgid(child.pid) for child in children}


@pytest.mark.parametrize(("variable", "starter"), [("DATABASE_URL", "postgres"), ("REDIS_URL", "valkey")])
def test_a_service_named_in_the_environment_is_used_and_left_alone(
    variable: str, starter: str, service: BackingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, service.url.replace("+psycopg", ""))
    with STARTERS[starter]() as named:
        assert (named.url, named.is_ours, named.is_ready()) == (service.url, False, True)
        for use in (named.kill, named.freeze, named.thaw, named.stop, named.start):
            with pytest.raises(NotOurs):
                use()
    assert service.is_ready()


def test_a_service_that_does_not_come_up_shows_its_log(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, valkey(is_own=True) as service:
        service.stop()
        command = [*service.process.program.command, "--port", str(taken.getsockname()[1])]
        process = Guarded(Program(command, log=tmp_path / "log"))
        broken = BackingService(service.url, lambda _: False, process)
        with pytest.raises(DidNotStart, match="Address already in use"):
            broken.start()
        broken.stop()


def test_a_missing_program_is_reported(tmp_path: Path) -> None:
    process = Guarded(Program([str(tmp_path / "nothing")], log=tmp_path / "log"))
    with pytest.raises(DidNotStart, match="nothing"):
        process.start()


@pytest.mark.parametrize("find", [binaries.postgres_folder, binaries.valkey_program])
def test_a_program_that_does_not_run_is_passed_over(
    find: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("initdb", "postgres", "valkey-server", "redis-server"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert not find(None, tmp_path).is_relative_to(tmp_path)


@pytest.mark.timeout(180)
def test_a_process_of_the_stack_comes_back_until_it_is_stopped(tmp_path: Path) -> None:
    with Stack(workers=1, logs=tmp_path, without=("beat", "flower")) as stack:
        eventually(lambda: httpx.get(f"{stack.api_url}/readyz").is_success)
        assert all(member.is_ready for member in stack.members)
        worker = stack["worker-1"]
        first = worker.pid

        worker.kill()
        eventually(lambda: worker.restarts == 1 and worker.is_ready, seconds=60)
        assert worker.pid not in {0, first}

        worker.stop()
        worker.look()
        assert (worker.state, worker.pid) == ("stopped", 0)

    assert {member.state for member in stack.members} == {"stopped", "done"}
    assert {path.stem for path in tmp_path.iterdir()} == {member.name for member in stack.members}


@pytest.mark.timeout(60)
def test_a_stack_that_does_not_come_up_shows_why() -> None:
    stack = Stack(environment={"FOLDLINE_LEASE_SECONDS": "soon"})
    with pytest.raises(DidNotStart, match=r"migrate ended with exit code 2(.|\n)*FOLDLINE_LEASE_SECONDS"), stack:
        pass
    assert {member.pid for member in stack.members} == {0}


@pytest.mark.timeout(180)
def test_make_runs_what_is_typed_in_a_shell_inside_a_stack_that_is_ready() -> None:
    typed = "RUN=curl -s $FOLDLINE_URL/readyz > /dev/null; echo $FOLDLINE_DATABASE_URL; echo it runs >&2"
    done = subprocess.run([*MAKE_STACK, typed], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"postgresql://\S+\n", done.stdout)
    before = done.stderr.partition("it runs")[0]
    ready = re.findall(r"^(\S+) +(?:ready|done)\b", before, re.MULTILINE)
    assert {"migrate", "api-1", "worker-interactive", "worker-background", "beat", "flower"} <= set(ready)


@pytest.mark.timeout(180)
def test_ctrl_c_on_a_terminal_ends_the_stack_without_complaint() -> None:
    with on_a_terminal(*MAKE_STACK) as terminal:
        screen = interrupted(terminal, "# Logs:")

    assert not re.search(r"Traceback|Error|\*\*\*", screen)
    assert re.search(r"^(\x1b\S+)?export FOLDLINE_DATABASE_URL=postgresql://\S+/postgres\r$", screen, re.MULTILINE)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("sight", ["process", "migrate"])
def test_ctrl_c_ends_a_stack_that_is_starting_without_complaint(sight: str) -> None:
    with on_a_terminal(*STACK) as terminal:
        screen = interrupted(terminal, sight)

    assert (terminal.returncode, "Traceback" in screen) == (0, False)


@pytest.mark.timeout(180)
@pytest.mark.thorough
def test_an_interrupted_command_has_its_own_exit_code() -> None:
    with on_a_terminal(*STACK, "--", "sh", "-c", "echo it runs; sleep 600; true") as terminal:
        screen = interrupted(terminal, "it runs")

    assert (terminal.returncode, "Traceback" in screen) == (128 + signal.SIGINT, False)


@pytest.mark.timeout(180)
def test_sigterm_ends_the_stack_as_ctrl_c_does() -> None:
    command = [sys.executable, "-m", "stack", "--workers", "0"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as stack:
        assert stack.stdout
        printed = stack.stdout.readline()
        for _ in range(2):  # its starter may pass on what it was sent itself
            stack.terminate()
        printed += stack.stdout.read()

    assert (stack.returncode, "Traceback" in printed) == (0, False)


def test_a_process_that_dies_at_once_is_started_again_at_most_once_a_second(tmp_path: Path) -> None:
    member = Member("short", Guarded(Program(["false"], log=tmp_path / "log")), Logs("never"))

    def is_third_restart() -> bool:
        member.look()
        return member.restarts == 3

    member.start()
    try:
        started = monotonic()
        eventually(is_third_restart)
        assert monotonic() - started >= 2 * RESTART_SECONDS
    finally:
        member.stop()


def tree_of(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


@contextmanager
def connected(database: BackingService) -> Iterator[psycopg.Connection]:
    """A connection that commits each statement."""
    url = make_url(database.url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def connect(url: str) -> None:
    """Connect to the port of an address."""
    address = make_url(url)
    socket.create_connection((str(address.host), int(address.port or 0)), timeout=1).close()


@contextmanager
def parent_of(starter: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Another process that has started a service; the service's address and process id."""
    script = f"""
        import sys
        from stack.services.servers import {starter}
        with {starter}(is_own=True) as service:
            print(service.url, service.pid, flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", dedent(script)]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout
        url, pid = parent.stdout.readline().split()
        yield parent, url, int(pid)


@contextmanager
def on_a_terminal(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command on a terminal of its own: what is written to its stdin is typed, its stdout is the screen."""
    script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    with subprocess.Popen(
        [sys.executable, "-c", script, *command],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as terminal:
        try:
            yield terminal
        except BaseException:
            # A test that timed out must not wait for it either.
            terminal.kill()
            raise


def interrupted(terminal: subprocess.Popen[bytes], sight: str) -> str:
    """All that is on the screen when Ctrl-C has been typed at the `sight` of something, and the command has ended."""
    assert terminal.stdin
    assert terminal.stdout
    screen = b""
    while sight.encode() not in screen:
        read = terminal.stdout.read(65_536)
        assert read, screen.decode()
        screen += read
    terminal.stdin.write(CTRL_C)
    while read := terminal.stdout.read(65_536):
        screen += read
    return screen.decode()


def test_no_port_is_given_out_twice_while_a_process_that_got_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "PORTS", range(31_000, 31_060))
    asking = "from stack.services import ports; ports.PORTS = range(31_000, 31_060)"
    ask = f"{asking}; print(*(ports.free_port() for _ in range(20)), flush=True); input()"
    with subprocess.Popen(
        (sys.executable, "-c", ask), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as other:
        assert other.stdout
        theirs = [int(port) for port in other.stdout.readline().split()]
        ours = [ports.free_port() for _ in range(20)]
        other.communicate("\n")
    assert len({*theirs, *ours}) == 40
