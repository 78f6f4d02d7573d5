"""The tables with which the page on presets begins: what is named on a right side is tried, or is in an answer."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import httpx
from foldline_worker.hooks.hooks import METHODS

from foldline.cli.program import load_command
from foldline.engine.policies.policy import STAGE_PARAMETERS
from foldline.engine.policies.presets import PRESETS
from foldline.settings import Settings, load_settings
from tests.e2e.test_docs import page_of
from tests.support.processes.databases import only_sqlite
from tests.support.processes.server import served_with_worker
from tools.presets_reference import TITLES

database_kind = only_sqlite

REQUEST = re.compile(r"(GET|POST|PATCH) (/\S+)(?: (\{.*\}))?")
SETTING = re.compile(r"FOLDLINE_([A-Z_]+)=(.+)")
COMMAND = re.compile(r"foldline (\w+) (.*)")
NEW_SESSION = {"model": "openai/gpt-4o"}
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
# Names that are not fields of an answer.
NAMES = {*STAGE_PARAMETERS, *PRESETS, *METHODS}


def right_sides(title: str) -> Iterator[list[str]]:
    """What stands in backticks on the right of each row of a system's table."""
    section = page_of("docs/presets.md").partition(f"## If you come from {title}\n")[2]
    rows = section.strip().partition("\n\n")[0].splitlines()[2:]
    yield from (re.findall(r"`([^`]+)`", row.strip("| ").partition(" | ")[2]) for row in rows)


def sent(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    response = client.request(method, path, json=body)
    assert response.is_success, f"{method} {path} {body}: {response.text}"
    return response.json()


def answer_to(span: str, client: httpx.Client, session: str) -> Any:
    """The service's answer to a request, or to a new session with these fields; None if it is neither."""
    if span.startswith("{"):
        return sent(client, "POST", "/sessions", NEW_SESSION | json.loads(span))
    if not (request := REQUEST.fullmatch(span)):
        return None
    return sent(client, request[1], request[2].replace("{id}", session), request[3] and json.loads(request[3]))


def check_without_service(span: str) -> bool:
    """Whether it is a setting, a command or another name; the first two have to be as the program takes them."""
    if setting := SETTING.fullmatch(span):
        assert setting[1].lower() in Settings.model_fields
        load_settings(**{setting[1].lower(): setting[2]})
    elif command := COMMAND.fullmatch(span):
        load_command(command[1]).make_context(command[1], shlex.split(command[2]))
    else:
        return span in NAMES
    return True


def keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys_in(part)


def unknown_in(spans: list[str], client: httpx.Client, session: str) -> list[str]:
    """What is no request, setting, command or name, and no field of the answers to the row's requests."""
    answers = [answer for span in spans if (answer := answer_to(span, client, session)) is not None]
    others = [span for span in spans if not span.startswith("{") and not REQUEST.fullmatch(span)]
    fields = set(keys_in(answers))
    return [span for span in others if span not in fields and not check_without_service(span)]


def unknown_of(preset: str, client: httpx.Client) -> list[str]:
    """What is unknown in the whole table of a system, in whose rows something is named throughout."""
    session = sent(client, "POST", "/sessions", NEW_SESSION | {"policy": {"preset": preset}})["id"]
    sent(client, "POST", f"/sessions/{session}/messages", HELLO)
    rows = list(right_sides(TITLES[preset]))
    assert len(rows) > 8
    assert all(rows)
    return [name for row in rows for name in unknown_in(row, client, session)]


def test_the_right_sides_of_each_first_day_are_what_the_program_takes(database: str) -> None:
    with served_with_worker(database) as url, httpx.Client(base_url=url) as client:
        assert [name for preset in TITLES for name in unknown_of(preset, client)] == []
