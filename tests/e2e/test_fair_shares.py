"""One tenant's job does not wait until another's are done, through HTTP, with a worker and a slow model."""

from __future__ import annotations

from pathlib import Path

import httpx

from foldline.engine.wire import dumps
from tests.e2e.test_serve import serving
from tests.support.processes.http import client
from tests.support.processes.scripted_llm import ScriptedLLM, slow

MANY = 60
# The worker of `serve` has four slots.
SAID = [{"role": role, "content": f"{turn} and so on " * 40} for turn in range(4) for role in ("user", "assistant")]


def with_key(connected: httpx.Client, key: str) -> dict[str, str]:
    assert connected.get("/sessions", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    return {"Authorization": f"Bearer {key}"}


def requested(connected: httpx.Client, headers: dict[str, str], wait_seconds: int = 0) -> dict[str, str]:
    """The job of a requested summary of a new session, and its state after so many seconds at most."""
    session = connected.post("/sessions", json={"model": "openai/gpt-4o"}, headers=headers).json()["id"]
    appended = connected.post(f"/sessions/{session}/messages", content=dumps({"messages": SAID}), headers=headers)
    assert appended.status_code == 201
    waiting = {**headers, "Prefer": f"wait={wait_seconds}"} if wait_seconds else headers
    asked = connected.post(f"/sessions/{session}/compact", json={"summarize": True}, headers=waiting).json()
    job: dict[str, str] = asked["job"]
    return job


def test_a_tenants_only_job_is_done_while_most_of_anothers_wait(tmp_path: Path) -> None:
    with ScriptedLLM(default=slow(1.0)) as llm:
        variables = {
            "FOLDLINE_API_KEYS": "many:the-one-key-of-many,one:the-one-key-of-one",
            "FOLDLINE_SUMMARIZER": "openai",
            "FOLDLINE_SUMMARIZER_BASE_URL": llm.base_url,
            "FOLDLINE_SUMMARIZER_MODEL": "scripted",
        }
        with serving(tmp_path, variables) as (_, url), client(url) as connected:
            many, one = (with_key(connected, f"the-one-key-of-{name}") for name in ("many", "one"))
            jobs = [requested(connected, many)["id"] for _ in range(MANY)]
            assert requested(connected, one, wait_seconds=20)["state"] == "succeeded"
            states = [connected.get(f"/jobs/{job}", headers=many).json()["state"] for job in jobs]
            assert states.count("queued") > MANY / 2
