"""Flower in Chromium, against a running stack: workers, the tasks of a replay, and nothing without a password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Error

from stack.stack import Stack
from tests.browser.looking import busy_stack, keep, page, replay
from tests.support.eventually import eventually

pytestmark = pytest.mark.timeout(300)

WORKERS = ("interactive@", "background@")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack through which a replay has gone."""
    with busy_stack() as (stack, _):
        replay(stack, tmp_path_factory.mktemp("replay"))
        yield stack


def test_whoever_logs_in_sees_both_workers_online(stack: Stack) -> None:
    user, _, password = stack.flower_login.partition(":")
    with page(http_credentials={"username": user, "password": password}) as flower:
        flower.goto(f"{stack['flower'].url}/workers")
        rows = flower.locator("#workers-table tbody tr")
        eventually(lambda: rows.filter(has_text="Online").count() == len(WORKERS), 30)
        for worker in WORKERS:
            assert rows.filter(has_text=worker).filter(has_text="Online").count() == 1
        keep(flower, "flower-workers")


def test_the_tasks_of_a_replay_are_there_with_states_and_runtimes(stack: Stack) -> None:
    user, _, password = stack.flower_login.partition(":")
    with page(http_credentials={"username": user, "password": password}) as flower:
        flower.goto(f"{stack['flower'].url}/tasks")
        rows = flower.locator("#tasks-table tbody tr")
        done = rows.filter(has_text="foldline.summarize").filter(has_text="SUCCESS")
        eventually(lambda: done.count() > 1, 30)
        assert rows.filter(has_not_text="foldline.").all_inner_texts() == []
        columns = flower.locator("#tasks-table thead th").all_inner_texts()
        place = [column.strip().lower() for column in columns].index("runtime")
        runtimes = [row.locator("td").nth(place).inner_text() for row in done.all()]
        assert all(re.fullmatch(r"\d+(\.\d+)? m?s", runtime) for runtime in runtimes), runtimes
        assert "so it goes" not in flower.content()
        keep(flower, "flower-tasks")
        done.first.locator("a[href*='/task/']").click()
        flower.wait_for_url("**/task/*")
        assert "{'queue': 'summarize." in flower.content()


@pytest.mark.parametrize("path", ["/", "/workers", "/tasks", "/broker", "/api/workers", "/metrics", "/healthcheck"])
def test_without_a_password_there_is_nothing(stack: Stack, path: str) -> None:
    with page() as flower:
        # Chromium asks for a password, gets none, and counts that as an error.
        with flower.expect_response(f"**{path}") as first, suppress(Error):
            flower.goto(f"{stack['flower'].url}{path}")
        answer = flower.request.get(f"{stack['flower'].url}{path}")
        assert (first.value.status, answer.status) in {(401, 401), (404, 404)}
        assert not any(text in answer.text() for text in (*WORKERS, "foldline.", "flower_"))
