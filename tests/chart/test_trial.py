"""The bundled PostgreSQL and Valkey: what they are, and what they are started with."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import yaml

from stack.services.binaries import valkey_program
from stack.services.ports import HOST, free_port
from stack.services.valkeys import answers
from tests.chart.environments import parsed
from tests.chart.rendered import Pod, rendered
from tests.support.eventually import eventually
from tests.support.processes.program import REPOSITORY

PASSWORD = "madeUpForTheTrial"
ANSWER_SECONDS = 20.0


@contextmanager
def started(valkey: Pod, folder: Path, port: int) -> Iterator[psutil.Process]:
    """The pod's Valkey, with its folders below one and a port that is free on this machine."""
    (folder / "valkey-server").symlink_to(valkey_program(None, folder))
    shell, option, script = valkey.container["args"]
    mounted = [mount["mountPath"] for mount in valkey.container["volumeMounts"]]
    for path in mounted:
        (folder / path.lstrip("/")).mkdir()
    there = re.sub("|".join(mounted), lambda path: f"{folder}{path[0]}", script)
    command = [shell, option, f"{there.rstrip()} --bind {HOST} --port {port}"]
    variables = {"PATH": f"{folder}:{os.defpath}", "VALKEYCLI_AUTH": PASSWORD}
    with subprocess.Popen(command, env=variables, cwd=folder, stdout=subprocess.DEVNULL) as server:
        try:
            yield psutil.Process(server.pid)
        finally:
            server.terminate()


@pytest.mark.timeout(60)
def test_valkey_asks_for_its_password_and_has_it_on_no_command_line(tmp_path: Path) -> None:
    port = free_port()
    with started(rendered("trial").pod("valkey"), tmp_path, port) as server:
        eventually(lambda: answers(f"redis://:{PASSWORD}@{HOST}:{port}/0"), ANSWER_SECONDS)
        assert not answers(f"redis://{HOST}:{port}/0")
        assert PASSWORD not in " ".join(server.cmdline())
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file() and PASSWORD in path.read_text("latin-1"))
    assert written.stat().st_mode & 0o077 == 0


def test_postgresql_takes_what_all_processes_may_open_while_they_are_rolled() -> None:
    chart = rendered("trial")
    rolled = [pod for pod in chart.pods if pod.is_foldline and pod.owner["kind"] == "Deployment"]
    opened = sum(
        parsed(pod).database_connections * (pod.owner["spec"]["replicas"] + 1)
        for pod in rolled
        if "FOLDLINE_DATABASE_URL" in {found["name"] for found in pod.container["env"]}
    )
    ((_, most),) = (argument.split("=") for argument in chart.pod("postgresql").container["args"] if "=" in argument)
    assert 0 < opened + parsed(chart.pod("migrate")).database_connections < int(most)


def test_the_bundled_services_are_those_of_compose() -> None:
    services = yaml.safe_load((REPOSITORY / "docker" / "compose.yaml").read_text("utf-8"))["services"]
    for bundled, composed in (("postgresql", "database"), ("valkey", "broker")):
        container = rendered("trial").pod(bundled).container
        assert container["image"] == services[composed]["image"]
        (volume,) = (mount for mount in container["volumeMounts"] if mount["name"] == "data")
        assert services[composed]["volumes"] == [f"{composed}:{volume['mountPath']}"]
