"""A key that passes through the gateway is kept nowhere, whatever its provider does; and tenants share no session."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from sqlalchemy import MetaData, create_engine

from tests.e2e.test_metrics import metrics_of
from tests.integration.gateway.test_gateway import WINDOW, gateway_to
from tests.support.eventually import eventually
from tests.support.gateway_agents import WholeHistoryAgent, session_of
from tests.support.processes.agent_provider import agent_provider
from tests.support.processes.collector import Collector, collecting
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.http import client
from tests.support.processes.installation import Installation
from tests.support.processes.raw_http import HttpMessage, raw_provider, written

PROVIDERS_KEY: Final = "sk-canary-7d1f0c55e2"
OWN_KEY: Final = "canary-own-91c3b7aa04"
TOOLS_KEY: Final = "canary-tool-3e80d1b6f2"
REMOTE_TOOL: Final[dict[str, Any]] = {
    "type": "mcp",
    "server_label": "remote",
    "server_url": "https://mcp.example.com",
    "authorization": TOOLS_KEY,
    "headers": {"X-Api-Key": TOOLS_KEY},
}
SAID: Final = "swordfish"
MODES: Final = ("answers", "refuses", "is too short", "is silent", "is garbage", "breaks", "breaks in the middle")
JSON_HEADERS: Final = [(b"Content-Type", b"application/json")]
AWAY: Final = "http://127.0.0.1:9/v1"
LISTENING: Final = r"listening on http[\w:/.]+"
KEYS_IN_HEADERS: Final[tuple[dict[str, str], ...]] = (
    {"Authorization": f"Bearer {PROVIDERS_KEY}", "X-Foldline-Key": OWN_KEY},
    {"x-api-key": PROVIDERS_KEY, "Authorization": f"Bearer {OWN_KEY}"},
    {"x-api-key": PROVIDERS_KEY, "X-Foldline-Key": f"{OWN_KEY} wrong"},
    {"Authorization": f"Bearer {PROVIDERS_KEY}"},
)


async def answer(request: HttpMessage, writer: asyncio.StreamWriter) -> None:
    """What the request's own header asks for; a provider that is silent writes nothing."""
    (mode,) = request.values(b"x-mode")
    match mode.decode():
        case "answers":
            body = {"content": [{"type": "text", "text": "Good."}], "usage": {"input_tokens": 9, "output_tokens": 1}}
            writer.write(written(b"HTTP/1.1 200 OK", JSON_HEADERS, json.dumps(body).encode()))
        case "refuses":
            # As OpenAI does, with the key that it was given.
            said = {"error": {"message": f"Incorrect API key provided: {PROVIDERS_KEY}."}}
            writer.write(written(b"HTTP/1.1 401 Unauthorized", JSON_HEADERS, json.dumps(said).encode()))
        case "is too short":
            said = {"error": {"message": "prompt is too long: 90000 tokens > 80000 maximum"}}
            writer.write(written(b"HTTP/1.1 400 Bad Request", JSON_HEADERS, json.dumps(said).encode()))
        case "is garbage":
            writer.write(b"\x00 is no HTTP\r\n\r\n")
            writer.close()
        case "breaks":
            writer.write(written(b"HTTP/1.1 400 Bad Request", JSON_HEADERS, b"12345678")[:-3])
            writer.close()
        case "breaks in the middle":
            writer.write(written(b"HTTP/1.1 200 OK", JSON_HEADERS, b"12345678")[:-3])
            writer.close()


@dataclass
class Watched:
    """A process of Foldline that has ended, and all that it wrote.

    `dumped` has all rows of its database and all messages of its broker.
    """

    process: Daemon
    collector: Collector
    answers: list[httpx.Response]
    metrics: str
    dumped: str = ""


@contextmanager
def watched_serve(folder: Path, variables: dict[str, str]) -> Iterator[Watched]:
    file = folder / "foldline.db"
    variables = {**variables, "FOLDLINE_DATABASE_URL": f"sqlite:///{file}"}
    with (
        collecting() as collector,
        daemon(folder, "serve", "--port", "0", until=LISTENING, variables=collected(variables, collector)) as process,
    ):
        watched = asked_all(process, collector)
        # While it runs, what was written last is in a file of its own.
        files = {path.name: path.read_bytes() for path in folder.glob("foldline.db*")}
        assert files.keys() > {"foldline.db", "foldline.db-wal"}
        with closing(sqlite3.connect(file)) as connection:
            watched.dumped = "\n".join(connection.iterdump()) + b"".join(files.values()).decode("latin-1")
        process.stop()
        yield watched


@contextmanager
def watched_api(installation: Installation, variables: dict[str, str]) -> Iterator[Watched]:
    """No worker runs, so that the messages stay at the broker."""
    with collecting() as collector:
        installation.variables |= collected(variables, collector)
        process = installation.start("api", "--port", "0", until=LISTENING)
        watched = asked_all(process, collector)
        eventually(lambda: messages_of(installation))
        watched.dumped = rows_of(installation.variables["FOLDLINE_DATABASE_URL"]) + messages_of(installation)
        process.stop()
        yield watched


def collected(variables: dict[str, str], collector: Collector) -> dict[str, str]:
    return {**variables, "FOLDLINE_TRACES_URL": collector.url}


def asked_all(process: Daemon, collector: Collector) -> Watched:
    """The process, after requests of each kind."""
    conversations = [
        (f"/v1/messages?key={PROVIDERS_KEY}", mode, headers, raw)
        for number, mode in enumerate(MODES)
        for headers in (KEYS_IN_HEADERS if mode == "answers" else KEYS_IN_HEADERS[:1])
        for raw in (understood_body(number), b'{"messages": ')
    ]
    others = [
        (f"{path}?key={PROVIDERS_KEY}&own={OWN_KEY}", "answers", KEYS_IN_HEADERS[0], understood_body(9))
        for path in ("/v1/responses", "/openai/v1/other", "/v1/models", "/sessions", "/nowhere")
    ]
    with client(process.ready.removeprefix("listening on ")) as connected:

        def ask(path: str, mode: str, headers: dict[str, str], raw: bytes) -> httpx.Response | None:
            try:
                return connected.post(path, content=raw, headers={"X-Mode": mode, **headers})
            except httpx.RemoteProtocolError:
                assert mode.startswith("breaks")
                return None

        with ThreadPoolExecutor(8) as pool:
            answers = [*pool.map(ask, *zip(*conversations, *others, strict=True))]
    metrics = metrics_of(process.printed)
    return Watched(process, collector, [answer for answer in answers if answer is not None], metrics)


def rows_of(url: str) -> str:
    """All rows of all tables of a PostgreSQL database."""
    engine = create_engine(url)
    known = MetaData()
    known.reflect(engine)
    with engine.connect() as connection:
        rows = [str(row) for table in known.sorted_tables for row in connection.execute(table.select())]
    engine.dispose()
    return "\n".join(rows)


def messages_of(installation: Installation) -> str:
    """The messages in all queues of the broker, with their bodies decoded."""
    redis: Any = installation.client()
    lists = [key for key in redis.scan_iter() if redis.type(key) == b"list"]
    messages = [item.decode() for key in lists for item in redis.lrange(key, 0, -1)]
    bodies = [base64.b64decode(json.loads(message)["body"]).decode() for message in messages]
    return "\n".join([*messages, *bodies])


def understood_body(number: int) -> bytes:
    """A conversation that a summary is due for."""
    said = [{"role": role, "content": f"{number} {SAID} " * 90} for role in ("user", "assistant") * 6]
    fields = {"model": "nobody/any", "max_tokens": 100, "tools": [REMOTE_TOOL]}
    return json.dumps({**fields, "messages": said[:-1]}).encode()


@pytest.fixture(params=["serve", "api"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    with raw_provider(answer) as url:
        variables = {
            "FOLDLINE_ANTHROPIC_BASE_URL": url,
            "FOLDLINE_OPENAI_BASE_URL": AWAY,
            "FOLDLINE_API_KEYS": f"one:{OWN_KEY}",
            "FOLDLINE_GATEWAY_CONTEXT_WINDOW": "4000",
            "FOLDLINE_GATEWAY_TIMEOUT_SECONDS": "0.5",
            "FOLDLINE_LOG_FORMAT": "json",
            "FOLDLINE_METRICS_PORT": "0",
            "FOLDLINE_LOG_LEVEL": "debug",
        }
        with (
            watched_serve(tmp_path, variables)
            if request.param == "serve"
            else watched_api(request.getfixturevalue("installation"), variables)
        ) as watched:
            yield watched


@pytest.mark.timeout(120)
def test_a_key_is_in_no_row_line_span_metric_message_or_error(watched: Watched) -> None:
    # What a provider quotes is passed on as it is.
    errors = [answer.text for answer in watched.answers if answer.request.headers["x-mode"] != "refuses"]
    assert {answer.status_code for answer in watched.answers} >= {200, 400, 401, 404, 502}
    lines = watched.process.printed
    spans = "\n".join(span.text for span in watched.collector.spans)
    assert (SAID in watched.dumped, REMOTE_TOOL["server_label"] in watched.dumped) == (True, True)
    assert all(outcome in watched.metrics for outcome in ('outcome="view"', 'outcome="not_understood"'))
    assert ("POST /v1/messages" in spans, '"route": "/v1/messages"' in lines) == (True, True)
    assert 'route="/v1/messages"' in watched.metrics
    everything = "\n".join([*errors, watched.metrics, watched.dumped, lines, spans])
    assert [key for key in (PROVIDERS_KEY, OWN_KEY, TOOLS_KEY) if key in everything] == []


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses"])
def test_the_provider_gets_the_key_of_a_remote_tool_and_another_key_changes_no_session(path: str) -> None:
    with agent_provider(WINDOW) as provider, gateway_to(provider) as address, client(address) as connected:
        agent = WholeHistoryAgent(address, path, fields={"tools": [REMOTE_TOOL]})
        agent.say("Read all parts.")
        agent.work(30)
        assert int(agent.answers[-1].headers["x-foldline-view-tokens"]) < WINDOW
        assert [body["tools"][0] for body in provider.requests] == [REMOTE_TOOL] * 30
        session = connected.get(f"/sessions/{session_of(agent)}").json()
        kept = {name: value for name, value in REMOTE_TOOL.items() if name not in {"authorization", "headers"}}
        assert session["tools"] == [kept]
        again = WholeHistoryAgent(address, path, history=agent.history[:-2])
        again.call(tools=[{**REMOTE_TOOL, "authorization": "another", "headers": {}}])
        assert provider.requests[-1]["tools"][0]["authorization"] == "another"
        assert connected.get(f"/sessions/{session_of(agent)}").json()["version"] == session["version"]


def test_two_tenants_who_say_the_same_share_no_session() -> None:
    keys = {name: f"key-of-tenant-{name}" for name in ("ann", "bob")}
    with (
        agent_provider(WINDOW) as provider,
        gateway_to(provider, api_keys=",".join(f"{name}:{key}" for name, key in keys.items())) as address,
        client(address) as connected,
    ):
        for first, second in (("ann", "bob"), ("bob", "ann")):
            agents = {
                name: WholeHistoryAgent(
                    address,
                    "/v1/messages",
                    headers={"X-Foldline-Key": keys[name], "X-Claude-Code-Session-Id": f"{first} begins"},
                )
                for name in (first, second)
            }
            for name in (first, second, first):
                if not agents[name].history:
                    agents[name].say(f"Read all parts. {first} begins.")
                agents[name].work(1)
            assert session_of(agents[first]) != session_of(agents[second])
            assert session_of(agents[first]) == agents[first].answers[0].headers["x-foldline-session"]
            others = f"/sessions/{session_of(agents[first])}"
            assert connected.get(others, headers={"X-Foldline-Key": keys[second]}).status_code == 404
