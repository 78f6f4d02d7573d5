"""One service with its worker for all scenarios: on SQLite, over a socket, and models that work, refuse or are away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from foldline_api.app import create_app
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.hooks.hooks import Hooks, reporting
from foldline_worker.summarizers.registry import create_summarizer

from foldline import migrations
from foldline.cli.database import open_store
from foldline.log.jobs.breakers import Breakers
from foldline.settings import Settings, load_settings
from tests.e2e.presets.driven import (
    AWAY,
    MOODY,
    NARROW,
    NARROW_WINDOW,
    NOWHERE,
    PATIENCE_SECONDS,
    STORY,
    WORKS,
    Extension,
    Service,
)
from tests.support.processes.http import client
from tests.support.processes.scripted_llm import Limits, Reply, ScriptedLLM
from tests.support.processes.server import served


def _settings(database_url: str, works: ScriptedLLM, narrow: ScriptedLLM, moody: ScriptedLLM) -> Settings:
    rows: dict[str, Any] = {
        WORKS: {"model": "scripted/works", "base_url": works.base_url, "input_tokens": 100_000},
        NARROW: {"model": "scripted/narrow", "base_url": narrow.base_url, "input_tokens": 100_000},
        MOODY: {"model": "scripted/moody", "base_url": moody.base_url},
        AWAY: {"model": "scripted/away", "base_url": NOWHERE, "timeout_seconds": 1},
    }
    return load_settings(
        database_url=database_url,
        summarizer=WORKS,
        summarizers=json.dumps(rows),
        summarizer_failures=100_000,
        sweep_seconds=1,
    )


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """What `foldline serve` runs, with a hook that looks on and acts only where instructions ask it to."""
    folder = tmp_path_factory.mktemp("presets")
    extension = Extension()
    story = Reply(text=f"## Asked\n- {STORY}\n- Read the version of each of the files.")
    with (
        ScriptedLLM(default=story) as works,
        ScriptedLLM(default=story, limits=Limits(window=NARROW_WINDOW)) as narrow,
        ScriptedLLM(default=story) as moody,
    ):
        settings = _settings(f"sqlite:///{folder}/foldline.db", works, narrow, moody)
        hooks = Hooks({"extension": extension}, settings.hook_timeout_seconds)
        with open_store(settings) as store:
            migrations.upgrade(store.engine)
            app = create_app(settings, store)
            summarizer = create_summarizer(settings, breakers=Breakers(store))
            with (
                reporting(hooks, store, settings.stop_seconds),
                EmbeddedWorker(settings, store, summarizer, hooks),
                served(app) as url,
                client(url, timeout_seconds=PATIENCE_SECONDS) as connected,
            ):
                yield Service(connected, store, app, url, works, narrow, moody, extension)


@pytest.fixture(autouse=True)
def _sessions_end(service: Service) -> Iterator[None]:
    """A session whose summarizer failed tries again after a while."""
    yield
    service.end_sessions()
