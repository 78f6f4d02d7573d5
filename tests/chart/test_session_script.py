from __future__ import annotations

from collections.abc import Iterator

import pytest
from foldline_api.app import create_app
from pydantic import SecretStr

from foldline.settings import Settings
from tests.chart.rendered import rendered
from tests.chart.session_script import SCRIPT, run
from tests.support.processes.databases import sqlite_database
from tests.support.processes.http import client
from tests.support.processes.server import opened_store, served

KEYS = "one:first-of-two-secrets,two:second-of-two-secrets"


@pytest.fixture
def url() -> Iterator[str]:
    """A service that requires keys."""
    settings = Settings(api_keys=SecretStr(KEYS))
    with sqlite_database() as database, opened_store(database) as store, served(create_app(settings, store)) as address:
        yield address


def test_the_pod_of_the_test_runs_the_script() -> None:
    container = rendered("minimal").pod("test").container
    assert container["command"] == ["python", "-c", SCRIPT, "http://prod-foldline-api.agents.svc:80"]


@pytest.mark.parametrize("keys", [KEYS, ",".join(reversed(KEYS.split(",")))])
def test_it_uses_a_session_and_leaves_nothing_behind(url: str, keys: str) -> None:
    done = run(url, keys)
    assert (done.returncode, done.stderr) == (0, "")
    with client(url) as api:
        left = api.get("/sessions", headers={"Authorization": f"Bearer {keys.split(',', maxsplit=1)[0].split(':')[1]}"})
    assert left.json()["items"] == []


def test_it_fails_where_its_key_is_none(url: str) -> None:
    done = run(url, "one:wrong")
    assert done.returncode != 0
    assert "401 Unauthorized" in done.stderr
