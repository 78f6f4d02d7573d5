"""Foldline as in production: services, API, workers, beat and Flower, each a process of its own that comes back."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self

from stack import postgresql
from stack.guarded import Guarded, Program
from stack.members import Member
from stack.ports import HOST, free_port
from stack.roles import PROGRAMS, ROLES, Role
from stack.services import Service, postgres, valkey
from stack.signs import Works

LOOK_SECONDS: Final = 0.05


class Stack:
    """`with Stack() as stack:` is a stack that is ready; `stack["worker-1"]` is a process of it.

    Processes are named for their roles, with a number where there may be several: broker, database, migrate, api-1,
    worker-1, worker-2, beat, flower. One that dies comes back; one that is stopped does not. `environment` is for
    Foldline's processes, on top of our own; `without` names roles to leave out. Logs go to files in `logs`, by default
    a folder that goes with the stack.
    """

    def __init__(
        self,
        *,
        apis: int = 1,
        workers: int = 2,
        api_port: int | None = None,
        environment: Mapping[str, str] | None = None,
        logs: Path | None = None,
        is_durable: bool = False,
        without: Collection[str] = (),
    ) -> None:
        self._roles = [role for role in ROLES if role.name not in without]
        self.flower_login = os.environ.get("FLOWER_BASIC_AUTH") or f"foldline:{secrets.token_hex(8)}"
        self._counts = {"api": apis, "worker": workers}
        self._api_port = api_port
        self._environment = {"PYTHONUNBUFFERED": "1", **(environment or {})}
        self.logs = logs
        self._is_durable = is_durable
        self._services: list[Member] = []
        self._processes: list[Member] = []
        self._facts: dict[str, str] = {"flower_login": self.flower_login}
        self._is_started = False
        self._is_stopping = Event()
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._start(opened)
            self._opened = opened.pop_all()
        self._is_started = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def __getitem__(self, name: str) -> Member:
        return {member.name: member for member in self.members}[name]

    @property
    def members(self) -> list[Member]:
        """All that has been started so far, in that order."""
        return [*self._services, *self._processes]

    @property
    def is_ready(self) -> bool:
        """Whether all of it has been started and is ready."""
        return self._is_started and all(member.is_ready for member in self.members)

    @property
    def api_url(self) -> str:
        """Address of the first API process."""
        return self["api-1"].url

    @property
    def database_url(self) -> str:
        """Address of the database, for SQLAlchemy."""
        return self._facts["database_url"]

    @property
    def broker_url(self) -> str:
        return self._facts["broker_url"]

    @property
    def variables(self) -> dict[str, str]:
        """What a program needs to use it, as environment variables."""
        return {
            "FOLDLINE_URL": self.api_url,
            "FOLDLINE_DATABASE_URL": postgresql.plain(self.database_url),
            "FOLDLINE_BROKER_URL": self.broker_url,
        }

    def _start(self, opened: ExitStack) -> None:
        folder = self.logs or Path(opened.enter_context(TemporaryDirectory(prefix="foldline-stack-")))
        folder.mkdir(parents=True, exist_ok=True)
        self.logs = folder
        for name, service in (("broker", valkey), ("database", postgres)):
            started = opened.enter_context(service(is_durable=self._is_durable, log=folder / f"{name}.log"))
            self._take(name, started)
        opened.callback(self._stop)
        for role in self._roles:
            self._start_role(role, folder)
        for member in self._processes:
            member.wait_until_ready()
        watcher = Thread(target=self._watch, name="stack-watcher")
        watcher.start()
        opened.callback(watcher.join)
        opened.callback(self._is_stopping.set)

    def _take(self, name: str, service: Service) -> None:
        """Note where a service is; one of ours is watched as well."""
        self._facts[f"{name}_url"] = service.url
        if service.is_ours:
            member = Member(name, service.process, Works(service.answers), url=service.url)
            member.start()
            member.wait_until_ready()
            self._services.append(member)

    def _start_role(self, role: Role, folder: Path) -> None:
        for name in self._names(role):
            member = self._member(name, role, folder / f"{name}.log")
            self._processes.append(member)
            member.start()
            if role.is_once:
                member.wait_until_ready()

    def _names(self, role: Role) -> Iterator[str]:
        if role.name not in self._counts:
            yield role.name
        for number in range(self._counts.get(role.name, 0)):
            yield f"{role.name}-{number + 1}"

    def _member(self, name: str, role: Role, log: Path) -> Member:
        port = self._api_port if name == "api-1" and self._api_port else free_port()
        facts = {**self._facts, "port": str(port)}
        filled = {variable: value.format_map(facts) for variable, value in role.environment.items()}
        program, *arguments = role.command
        command = [*PROGRAMS[program], *arguments]
        process = Guarded(Program(command, log=log, environment={**self._environment, **filled}))
        url = f"http://{HOST}:{port}" if role.listens else ""
        return Member(name, process, role.ready, url=url, is_once=role.is_once)

    def _watch(self) -> None:
        while not self._is_stopping.wait(LOOK_SECONDS):
            for member in self.members:
                member.look()

    def _stop(self) -> None:
        """End what stands on the services, all at the same time; the services go after it."""
        with ThreadPoolExecutor(max_workers=len(self._processes) or 1) as pool:
            list(pool.map(Member.stop, reversed(self._processes)))
        for member in reversed(self._services):
            member.stop()
