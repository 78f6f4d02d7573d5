"""`foldline mcp`: an agent's model uses the tools of a running service, through the client of the protocol's SDK."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client as ProtocolClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from foldline.client import Client
from foldline.engine.recall import tool
from foldline.mcp_server.server import create_server
from tests.e2e.test_serve import serving
from tests.support.processes.daemons import daemon
from tests.support.processes.databases import only_sqlite
from tests.support.processes.http import client
from tests.support.processes.program import MAIN

database_kind = only_sqlite

# A tenant has sessions of its own, so that a test knows which one got a message last.
KEYS = {name: f"{name}-has-this-secret" for name in ("ann", "ben", "nobody")}
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
# A program that copies what it writes for the agent into a file.
COPIED = '"$@" | tee "$0"'


@dataclass(frozen=True, slots=True)
class Asked:
    """An agent's connection to the tools."""

    portal: BlockingPortal
    client: ProtocolClient

    def call(self, name: str, **arguments: Any) -> tuple[str, bool]:
        """The text that the model reads, and whether it is an error."""
        result = self.portal.call(self.client.call_tool, name, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text, result.is_error

    def answer(self, name: str, **arguments: Any) -> str:
        text, is_error = self.call(name, **arguments)
        assert not is_error, text
        return text

    def error(self, name: str, **arguments: Any) -> str:
        text, is_error = self.call(name, **arguments)
        assert is_error, text
        return text


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as started:
        yield started


@contextmanager
def connected(portal: BlockingPortal, server: Any) -> Iterator[Asked]:
    with portal.wrap_async_context_manager(ProtocolClient(server)) as opened:
        yield Asked(portal, opened)


@contextmanager
def asked_of(portal: BlockingPortal, url: str, key: str | None = None, session: str | None = None) -> Iterator[Asked]:
    """The tools in this process, for what needs no other."""
    with Client(url, key) as service, connected(portal, create_server(service, session)) as asked:
        yield asked


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    keys = ",".join(f"{tenant}:{key}" for tenant, key in KEYS.items())
    with serving(folder, {"FOLDLINE_API_KEYS": keys}) as (_, address):
        yield address


@pytest.fixture(scope="module")
def over_pipes(portal: BlockingPortal, url: str, folder: Path) -> Iterator[Asked]:
    """Started as agents start it, with the variables that `foldline run` and a user set."""
    command = ["-c", COPIED, str(folder / "answers"), sys.executable, "-m", MAIN, "mcp"]
    variables = {"FOLDLINE_URL": url, "FOLDLINE_API_KEY": KEYS["ann"]}
    started = StdioServerParameters(command="sh", args=command, env=variables)
    with connected(portal, stdio_client(started)) as asked:
        yield asked


@pytest.fixture(scope="module")
def address(url: str, folder: Path) -> Iterator[str]:
    options = ("mcp", "--http", "--port", "0", "--url", url, "--api-key", KEYS["ann"])
    with daemon(folder, *options, until=r"MCP at \S+/mcp", variables={}) as running:
        yield running.ready.removeprefix("MCP at ")
        running.stop()


@pytest.fixture(scope="module")
def over_http(portal: BlockingPortal, address: str) -> Iterator[Asked]:
    with connected(portal, address) as asked:
        yield asked


@pytest.fixture(params=["over_pipes", "over_http"])
def asked(request: pytest.FixtureRequest) -> Asked:
    found: Asked = request.getfixturevalue(request.param)
    return found


@contextmanager
def tenant(url: str, name: str) -> Iterator[httpx.Client]:
    with client(url) as opened:
        opened.headers["Authorization"] = f"Bearer {KEYS[name]}"
        yield opened


@pytest.fixture
def ann(url: str) -> Iterator[httpx.Client]:
    with tenant(url, "ann") as opened:
        yield opened


def long_session(service: httpx.Client) -> str:
    """A session whose view nearly fills its window."""
    created = service.post("/sessions", json={"model": "openai/gpt-4o", "context_window": 4_000, "auto_compact": False})
    session: str = created.json()["id"]
    messages = []
    for number in range(6):
        said = f"Never push to main{number}. Read part {number}, its port is 40{number}17" + " word" * 300
        messages += [{"role": "user", "content": said}, {"role": "assistant", "content": f"I read part {number}."}]
    assert service.post(f"/sessions/{session}/messages", json={"messages": messages}).status_code == 201
    return session


def test_a_model_sees_the_tools_and_what_each_takes(asked: Asked) -> None:
    listed = {found.name: found for found in asked.portal.call(asked.client.list_tools).tools}
    assert list(listed) == ["recall", "ledger", "pin", "compact", "undo"]
    recall = listed["recall"]
    assert recall.description == tool.DESCRIPTION
    own = {name: schema for name, schema in recall.input_schema["properties"].items() if name != "session"}
    assert own == json.loads(json.dumps(tool.PARAMETERS["properties"]))
    assert all("session" in found.input_schema["properties"] for found in listed.values())
    assert [name for name, found in listed.items() if found.annotations and found.annotations.read_only_hint] == [
        "recall",
        "ledger",
    ]


def test_a_model_recalls_what_is_out_of_its_view(asked: Asked, ann: httpx.Client) -> None:
    session = long_session(ann)
    assert "40017" not in asked.answer("recall", query="What is the port of part 0?", session=session)
    asked.answer("compact", session=session)
    text = asked.answer("recall", query="What is the port of part 0?", session=session)
    assert text.startswith(f"[Session {session}]\n")
    assert "40017" in text
    assert "40017" not in asked.answer("recall", query="port", kinds=["failure"], session=session)


def test_a_model_reads_what_must_survive_by_kind(asked: Asked, ann: httpx.Client) -> None:
    session = long_session(ann)
    text = asked.answer("ledger", kinds=["rule"], limit=2, session=session)
    rules = ["- Never push to main4.", "- Never push to main5."]
    assert text.splitlines() == [f"[Session {session}]", "rule, the newest 2 of 6:", *rules]
    assert "\nrule:\n- Never push to main0.\n" in asked.answer("ledger", session=session)
    assert asked.answer("ledger", kinds=["failure"], session=session).endswith("was found: failure.")


def test_a_model_pins_a_text(asked: Asked, ann: httpx.Client) -> None:
    session = long_session(ann)
    assert "in every view from now on" in asked.answer("pin", text="The port is 9.", session=session)
    assert "The port is 9." in ann.get(f"/sessions/{session}/context").text
    assert asked.error("pin", text="so many words " * 900, session=session).endswith("Pin a shorter text.")


def test_a_model_compacts_and_takes_that_back(asked: Asked, ann: httpx.Client) -> None:
    session = long_session(ann)
    assert "Compacted: the view has " in asked.answer("compact", instructions="Keep the ports.", session=session)
    assert "Nothing was compacted: " in asked.answer("compact", session=session)
    newest = ann.get(f"/sessions/{session}/compactions").json()["items"][-1]["id"]
    assert f"{newest}. What they" in asked.answer("undo", session=session)
    assert "is undone already" in asked.error("undo", compaction=newest, session=session)
    assert "no compaction to undo" in asked.error("undo", session=session)


def test_an_unknown_session_is_an_error_that_says_what_to_do_and_the_server_goes_on(asked: Asked) -> None:
    for session in ("nobody's", "../stats?x=", "\N{SNOWMAN}"):
        text = asked.error("recall", query="anything", session=session)
        assert text.startswith(f"[Session {session}]\nThere is no ")
        assert "without one the session that got a message last is taken" in text
    assert asked.portal.call(asked.client.list_tools).tools


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("recall", {}, "'query' is a required property"),
        ("recall", {"query": "x", "kinds": ["rules"]}, "kinds.0: 'rules' is not one of ['rule', "),
        ("ledger", {"limit": "many"}, "limit: 'many' is not of type 'integer'"),
        ("undo", {"id": "e0-1"}, "'id' was unexpected"),
        ("forget", {}, "There is no tool forget; there are recall, "),
    ],
)
def test_a_wrong_call_is_an_error_that_names_what_is_wrong(
    over_pipes: Asked, name: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in over_pipes.error(name, **arguments)


def test_without_a_session_the_one_that_got_a_message_last_is_taken(url: str, portal: BlockingPortal) -> None:
    messages = {"messages": [{"role": "user", "content": "Always ask first."}]}
    with tenant(url, "ben") as ben, asked_of(portal, url, KEYS["ben"]) as asked:
        for session in ("old", "new"):
            ben.post("/sessions", json={"id": session, "model": "openai/gpt-4o", "tools": TOOLS})
            ben.post(f"/sessions/{session}/messages", json=messages)
        assert asked.answer("ledger").startswith("[Session new]\n")
        ben.post("/sessions/old/messages", json=messages)
        assert asked.answer("ledger").startswith("[Session old]\n")
        # Such as a title's: who calls a tool has some.
        ben.post("/sessions", json={"id": "no-tools", "model": "openai/gpt-4o"})
        ben.post("/sessions/no-tools/messages", json=messages)
        assert asked.answer("ledger").startswith("[Session old]\n")
        with asked_of(portal, url, KEYS["ben"], "new") as own:
            assert own.answer("ledger").startswith("[Session new]\n")
            assert own.answer("ledger", session="old").startswith("[Session old]\n")
        with asked_of(portal, url, KEYS["ben"]) as later:
            # What other agents said before this one began is nothing to change.
            assert "Name one, such as no-tools." in later.error("undo")
            ben.post("/sessions/new/messages", json=messages)
            assert later.answer("ledger").startswith("[Session new]\n")


def test_a_service_without_sessions_or_with_other_keys_says_so(url: str, portal: BlockingPortal) -> None:
    with asked_of(portal, url, KEYS["nobody"]) as asked:
        assert "has no session yet" in asked.error("ledger")
    with asked_of(portal, url, "wrong") as asked:
        assert "needs a key; give --api-key, or set FOLDLINE_API_KEY." in asked.error("ledger")


def test_a_service_that_is_away_and_another_program_in_its_place_are_errors(
    portal: BlockingPortal, address: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with asked_of(portal, f"http://127.0.0.1:{port}") as asked:
        assert "Start it with `foldline serve`, or give its address as FOLDLINE_URL." in asked.error("ledger")
    with asked_of(portal, address) as asked:
        assert "status 404, and nothing that is known. Check FOLDLINE_URL: " in asked.error("ledger")


def test_a_page_of_another_site_cannot_use_the_port(address: str) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {"Accept": "application/json, text/event-stream"}
    with client(timeout_seconds=5) as browser:
        statuses = [
            browser.post(address, json=request, headers={**accepted, **header}).status_code
            for header in ({}, {"Host": "evil.example"}, {"Origin": "http://evil.example"})
        ]
    assert statuses == [200, 421, 403]


def test_nothing_but_the_protocol_is_on_stdout(over_pipes: Asked, folder: Path) -> None:
    over_pipes.error("forget")
    lines = (folder / "answers").read_text().splitlines()
    assert lines
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
