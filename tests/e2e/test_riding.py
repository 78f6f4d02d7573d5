"""A service whose summarizer is the agents' own model, set up as an operator does it."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.wire import dumps_text
from foldline.replay.embedded import embedded_service
from tests.support.eventually import eventually
from tests.support.processes.caching_model import CachingModel
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client, items_of

database_kind = only_sqlite

Json = dict[str, Any]
MODEL = "claude-sonnet-4-5"
STORY = "## Decided\n- The parser is called reader now, and 12 tests pass.\n## Open\n- The notes for release 2.4."
WORDS = "so it goes on and on with the parser and its callers " * 12


def said(role: str, text: str) -> Json:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_an_agents_summary_is_read_from_its_own_cache() -> None:
    with CachingModel("anthropic", STORY) as model, pytest.MonkeyPatch.context() as patch:
        row = {"model": MODEL, "wire": "anthropic", "base_url": model.base_url, "rides_cache": f"anthropic/{MODEL}"}
        patch.setenv("FOLDLINE_SUMMARIZERS", dumps_text({"own": row}))
        patch.setenv("FOLDLINE_SUMMARIZER", "own,extractive")
        with embedded_service() as url, client(url) as service:

            def ask(method: str, path: str, body: Any = None) -> Any:
                response = service.request(method, path, json=body)
                assert response.is_success, response.text
                return response.json()

            new = {
                "model": f"anthropic/{MODEL}",
                "context_window": 20_000,
                "system": "You look.",
                "auto_compact": False,
            }
            session = f"/sessions/{ask('POST', '/sessions', new)['id']}"
            asked = ("Rename the parser to reader.", *(f"{number} {WORDS}" for number in range(7)), "Go on.")
            view: Json = {}
            for text in asked:
                ask("POST", f"{session}/messages", {"messages": [said("user", text)], "format": "anthropic"})
                view = ask("GET", f"{session}/context?format=anthropic")
                model.read(view["messages"])
                answer = said("assistant", f"The parser is called reader now, and 12 tests pass. {WORDS}")
                usage = {"version": view["version"], "input": 0}
                body = {"messages": [answer], "format": "anthropic", "usage": usage}
                ask("POST", f"{session}/messages", body)
            ask("POST", f"{session}/compact", {"target_tokens": 1_800})

            eventually(lambda: [job["state"] for job in items_of(service, f"{session}/jobs")] == ["succeeded"])

            (job,) = items_of(service, f"{session}/jobs")
            made = ask("GET", f"{session}/compactions/{job['compaction_id']}")
            assert made["details"]["input"] == "view"
            assert 0 < made["details"]["cost_usd"] < job["usage"]["input"] * 3 / 1_000_000
            assert job["usage"]["cache_read"] > job["usage"]["input"] / 2
            (request,) = model.bodies
            assert request["messages"][:3] == view["messages"][:3]
            assert request["system"] == "You look."
