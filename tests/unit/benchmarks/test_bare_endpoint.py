"""The endpoint that ours is measured against writes what ours writes, whatever columns the tables get."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from benchmarks.bare_endpoint import create_app
from foldline import migrations
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle

MESSAGES = {"messages": [{"role": "user", "content": "Go on."}]}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/bare.db"


def test_it_appends(url: str) -> None:
    store = Store(url)
    migrations.upgrade(store.engine)
    with store.write() as tx:
        lifecycle.create(tx, "default", lifecycle.NewSession("openai/gpt-4o", id="s"))
    store.close()
    with TestClient(create_app(url)) as client:
        answers = [client.post("/sessions/s/messages", json=MESSAGES) for _ in range(2)]
    assert [answer.json() for answer in answers] == [
        {"entry_ids": ["e0-1"], "version": 2},
        {"entry_ids": ["e0-2"], "version": 3},
    ]
