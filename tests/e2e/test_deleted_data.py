"""What was deleted is in no file of the database, and what a tenant has can be exported: on whole installations."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psycopg
import pytest

from stack.services.postgresql import plain
from stack.services.servers import postgres, valkey
from tests.e2e.test_serve import LISTENING
from tests.support.eventually import eventually
from tests.support.processes.agent_provider import agent_provider
from tests.support.processes.canaries import OTHERS_WORD, WORDS, Speaker, found_in
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.databases import POSTGRESQL, SQLITE, Server
from tests.support.processes.http import client
from tests.support.processes.program import foldline

KEYS: Final = {"ann": "key-of-ann-for-all-of-it", "bob": "key-of-bob-for-all-of-it"}
SEALING_KEY: Final = base64.b64encode(b"k" * 32).decode()


@dataclass
class Place:
    """An installation, the folder with all files of its database, and the options that commands need for it."""

    connected: httpx.Client
    data: Path
    url: str
    processes: list[Daemon]

    def found(self) -> set[str]:
        """The words that are in a file, once what the server has in memory is written."""
        if POSTGRESQL in self.url:
            with psycopg.connect(plain(self.url), autocommit=True) as connection:
                connection.execute("CHECKPOINT")
        return found_in(self.data, ALL)

    def data_command(self, *arguments: str) -> str:
        done = foldline("data", *arguments, "--database-url", self.url)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def is_purged(self) -> bool:
        """Whether a purge got at all files."""
        done = foldline("data", "purge", "--database-url", self.url)
        assert done.returncode == 0 or "run this again" in done.stderr, done.stderr
        return done.stdout == PURGED

    @property
    def printed(self) -> str:
        return "".join(process.printed for process in self.processes)


@contextmanager
def placed(kind: str, folder: Path, **more: str) -> Iterator[Place]:
    """`foldline serve` on SQLite, or `api` and `worker` on a PostgreSQL of their own."""
    with ExitStack() as stack:
        variables = {
            "FOLDLINE_API_KEYS": ",".join(f"{tenant}:{key}" for tenant, key in KEYS.items()),
            "FOLDLINE_ANTHROPIC_BASE_URL": stack.enter_context(agent_provider()).url,
            "FOLDLINE_SWEEP_SECONDS": "0.5",
            **more,
        }
        logs, data = folder / "logs", folder / "data"
        logs.mkdir()
        data.mkdir()
        url, commands = f"sqlite:///{data}/foldline.db", ["serve"]
        if kind == POSTGRESQL:
            url = stack.enter_context(Server(stack.enter_context(postgres(is_own=True)).url).database())
            with psycopg.connect(plain(url)) as connection:
                ((named,),) = connection.execute("SHOW data_directory").fetchall()
            data, commands = Path(named), ["worker", "api"]
            variables["FOLDLINE_BROKER_URL"] = stack.enter_context(valkey(is_own=True)).url
        variables["FOLDLINE_DATABASE_URL"] = url
        processes = [
            stack.enter_context(daemon(logs, command, *PORT[command], until=UNTIL[command], variables=variables))
            for command in commands
        ]
        address = processes[-1].ready.removeprefix("listening on ")
        yield Place(stack.enter_context(client(address)), data, url, processes)


PORT: Final = {"serve": ("--port", "0"), "api": ("--port", "0"), "worker": ()}
UNTIL: Final = {"serve": LISTENING, "api": LISTENING, "worker": "ready:"}
PURGED: Final = "nothing of what was deleted is in the files of the database\n"
ALL: Final = {*WORDS.values(), OTHERS_WORD}


@pytest.mark.parametrize("kind", [SQLITE, POSTGRESQL])
def test_what_a_tenant_has_is_exported_and_deleted_without_a_trace(kind: str, tmp_path: Path) -> None:
    with placed(kind, tmp_path) as place:
        ann, bob = (Speaker(place.connected, key) for key in KEYS.values())
        ann.say_all()
        bob.say(OTHERS_WORD)

        file = tmp_path / "all.jsonl"
        streamed = ann.send("GET", "/tenant/export")
        place.data_command("export", "--tenant", "ann", "--output", str(file))
        for text in (streamed, file.read_text()):
            *lines, end = map(json.loads, text.splitlines())
            said = json.dumps(lines, ensure_ascii=False)
            assert {word for word in ALL if word in said} == {*WORDS.values()}
            assert end == {"type": "end", "lines": len(lines)}

        assert place.found() == ALL
        assert ann.send("DELETE", "/tenant?keys=true") == {"sessions": 3, "keys": 1}
        # The service reads, too, and then the command says that it has to run again.
        eventually(place.is_purged, 60)
        assert place.found() == {OTHERS_WORD}
        trail = [(line["action"], line["actor"]) for line in ann.send("GET", "/audit?limit=500")["items"]]
        assert trail[-3:] == [("exported", "command"), ("deleted", "environment"), ("revoked-key", "environment")]
        assert (ann.send("GET", "/sessions")["items"], len(bob.send("GET", "/sessions")["items"])) == ([], 1)
        deleted = place.data_command("delete", "--tenant", "bob", "--yes")
        assert (deleted, bob.send("GET", "/sessions")["items"]) == ("1 sessions were deleted, and 0 keys revoked\n", [])
        assert not {word for word in ALL if word in place.printed}


@pytest.mark.parametrize("kind", [SQLITE, POSTGRESQL])
def test_with_encryption_nothing_that_is_said_is_ever_in_a_file(kind: str, tmp_path: Path) -> None:
    with placed(kind, tmp_path, FOLDLINE_ENCRYPTION_KEYS=SEALING_KEY) as place:
        ann = Speaker(place.connected, KEYS["ann"])
        ann.say_all()
        # Names are not encrypted.
        assert place.found() == {WORDS["key"]}
        assert ann.send("DELETE", "/tenant?keys=true") == {"sessions": 3, "keys": 1}
        # A sweep may have overwritten the name already.
        assert place.found() <= {WORDS["key"]}


def test_a_purge_takes_the_uri_of_a_file_and_refuses_one_of_none(tmp_path: Path) -> None:
    url = f"sqlite:///file:{tmp_path}/a%20base.db?uri=true"
    refused = foldline("data", "purge", "--database-url", url)
    assert (refused.returncode, f"there is no database at {tmp_path}/a base.db:" in refused.stderr) == (3, True)
    assert foldline("migrate", "--database-url", url).returncode == 0
    purged = foldline("data", "purge", "--database-url", url)
    assert (purged.returncode, purged.stdout) == (0, PURGED)
