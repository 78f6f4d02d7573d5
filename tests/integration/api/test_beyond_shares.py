"""A tenant beyond its share whose process does not work: threads answer, and nothing is lost or done twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from time import thread_time

import httpx
import pytest
from fastapi import FastAPI
from foldline_api.app import create_app
from foldline_api.http.bounds.large_processes import LargeProcess, OpenService
from foldline_api.http.bounds.shares import SHARE_SECONDS
from foldline_api.service import AppState
from pydantic import SecretStr

from foldline.log.storage.engines.database_file import KnownFile
from foldline.settings import Settings
from tests.support.processes.databases import sqlite_database
from tests.support.processes.server import opened_store, served

NEW = {"model": "openai/gpt-4o"}
SAID = {"messages": [{"role": "user", "content": "How far are we?"}]}
SETTINGS = Settings(api_keys=SecretStr("ours:the-long-key-of-ours,theirs:the-long-key-of-theirs"))


def refuse(_process: LargeProcess, _file: KnownFile | None) -> AbstractContextManager[AppState]:
    raise OSError


def end(_process: LargeProcess, _file: KnownFile | None) -> AbstractContextManager[AppState]:
    os._exit(1)


@contextmanager
def beyond_its_share(open_service: OpenService) -> Iterator[tuple[FastAPI, httpx.Client, str]]:
    """A service, a caller whose tenant is beyond its share of it, and the path of its session's messages."""
    with sqlite_database() as url, opened_store(url) as store:
        app = create_app(SETTINGS, store, open_service=open_service)
        with (
            served(app) as address,
            httpx.Client(base_url=address, headers={"Authorization": "Bearer the-long-key-of-ours"}) as caller,
        ):
            there = {"Authorization": "Bearer the-long-key-of-theirs"}
            session = caller.post("/sessions", json=NEW).json()
            assert caller.post("/sessions", json=NEW, headers=there).status_code == 201
            shares = app.state.service.places.shares
            for _ in range(2):
                shares.counted("ours", partial(compute, SHARE_SECONDS))()
            assert shares.is_beyond("ours")
            yield app, caller, f"/sessions/{session['id']}/messages"


def compute(seconds: float) -> None:
    until = thread_time() + seconds
    while thread_time() < until:
        pass


def is_beyond(app: FastAPI) -> bool:
    found: bool = app.state.service.places.shares.is_beyond("ours")
    return found


@pytest.mark.timeout(60)
def test_where_nothing_was_begun_a_thread_answers() -> None:
    with beyond_its_share(refuse) as (app, caller, messages):
        answers = [caller.post(messages, json=SAID, timeout=30) for _ in range(3)]
        assert [(answer.status_code, answer.json()["version"]) for answer in answers] == [(201, 2), (201, 3), (201, 4)]
        assert not is_beyond(app)


@pytest.mark.timeout(60)
def test_a_process_that_is_killed_answers_no_second_request() -> None:
    with beyond_its_share(end) as (app, caller, messages):
        answers = [caller.post(messages, json=SAID, timeout=30) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [503, 201]
        assert answers[0].json()["type"] == "/problems/outcome-unknown"
        assert not is_beyond(app)
