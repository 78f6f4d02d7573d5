"""Foldline as in production: services, API, workers, beat and Flower, each a process that is restarted if it dies."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self

from foldline.settings import PREFIX
from stack.processes.guarded import Guarded, Program
from stack.processes.members import Member
from stack.processes.signs import Works
from stack.roles import WORKER, Role, alike, roles
from stack.services import postgresql
from stack.services.servers import BackingService, postgres, valkey

FOLDLINE: Final = (sys.executable, "-m", "foldline.cli.main")
FIRST_API: Final = "api-1"
FLOWER: Final = "flower"
LOOK_SECONDS: Final = 0.05


class Stack:
    """`with Stack() as stack:` is a stack that is ready; `stack["api-1"]` is a process of it.

    It runs a broker, a database and the services of docker/compose.yaml, each with its command and environment, on
    loopback. Processes have the names of these services, with a number if there may be several: broker, database,
    migrate, api-1, worker-interactive, worker-background, beat, flower. With a number of `workers` there are worker-1,
    worker-2 and so on instead; each takes from all queues. A process that dies is restarted, a stopped one is not.
    `environment` is for Foldline's processes, in addition to our own; `without` names services to leave out. API keys
    are needed only if FOLDLINE_API_KEYS is set. Logs are files in `logs`, by default a folder that is removed with the
    stack.
    """

    def __init__(
        self,
        *,
        apis: int = 1,
        workers: int | None = None,
        api_port: int | None = None,
        environment: Mapping[str, str] | None = None,
        logs: Path | None = None,
        is_durable: bool = False,
        without: Collection[str] = (),
    ) -> None:
        self._environment = {"PYTHONUNBUFFERED": "1", **(environment or {})}
        given = os.environ | self._environment
        self.flower_login = given.get("FOLDLINE_FLOWER_LOGIN") or f"foldline:{secrets.token_hex(8)}"
        self._has_keys = bool(given.get("FOLDLINE_API_KEYS"))
        self._apis, self._workers, self._without = apis, workers, without
        self._api_port = api_port
        self.logs = logs
        self._is_durable = is_durable
        self._services: list[Member] = []
        self._processes: list[Member] = []
        self._addresses: dict[str, str] = {}
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
        """The processes that have been started so far, in that order."""
        return [*self._services, *self._processes]

    @property
    def is_ready(self) -> bool:
        """Whether all processes have been started and are ready."""
        return self._is_started and all(member.is_ready for member in self.members)

    @property
    def api_url(self) -> str:
        """Address of the first API process."""
        return self[FIRST_API].url

    @property
    def database_url(self) -> str:
        """Address of the database, for SQLAlchemy."""
        return self._addresses["database"]

    @property
    def broker_url(self) -> str:
        return self._addresses["broker"]

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables with which a program uses the stack; with Flower's if it is part of the stack."""
        flower = {} if FLOWER in self._without else self._flower_variables()
        return {
            "FOLDLINE_URL": self.api_url,
            "FOLDLINE_METRICS_URL": self[FIRST_API].metrics_url,
            "FOLDLINE_DATABASE_URL": postgresql.plain(self.database_url),
            "FOLDLINE_BROKER_URL": self.broker_url,
            **flower,
        }

    def _flower_variables(self) -> dict[str, str]:
        return {"FOLDLINE_FLOWER_URL": self[FLOWER].url, "FOLDLINE_FLOWER_LOGIN": self.flower_login}

    def _start(self, opened: ExitStack) -> None:
        folder = self.logs or Path(opened.enter_context(TemporaryDirectory(prefix="foldline-stack-")))
        folder.mkdir(parents=True, exist_ok=True)
        self.logs = folder
        for name, service in (("broker", valkey), ("database", postgres)):
            started = opened.enter_context(service(is_durable=self._is_durable, log=folder / f"{name}.log"))
            self._take(name, started)
        opened.callback(self._stop)
        for role in self._roles():
            self._start_role(role, folder)
        for member in self._processes:
            member.wait_until_ready()
        watcher = Thread(target=self._watch, name="stack-watcher")
        watcher.start()
        opened.callback(watcher.join)
        opened.callback(self._is_stopping.set)

    def _take(self, name: str, service: BackingService) -> None:
        """Keep the address of a service; a service of our own is watched as well."""
        self._addresses[name] = service.url
        if service.is_ours:
            member = Member(name, service.process, Works(service.answers), url=service.url)
            member.start()
            member.wait_until_ready()
            self._services.append(member)

    def _roles(self) -> list[Role]:
        """The roles to start, in that order."""
        found = roles(self._compose_variables())
        return [role for role in (found if self._workers is None else alike(found)) if role.name not in self._without]

    def _compose_variables(self) -> dict[str, str]:
        """The variables of docker/compose.yaml: Foldline's variables that are set, and the services' addresses."""
        given = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
        return {
            "FOLDLINE_LOG_FORMAT": "text",
            # In containers the API listens on all addresses, and it does not start there without keys.
            "FOLDLINE_API_KEYS": "nobody:has-no-key-at-all",
            **given,
            **self._environment,
            "FOLDLINE_DATABASE_URL": self.database_url,
            "FOLDLINE_BROKER_URL": self.broker_url,
            "FOLDLINE_FLOWER_LOGIN": self.flower_login,
        }

    def _start_role(self, role: Role, folder: Path) -> None:
        for name in self._names(role):
            member = self._member(name, role, folder / f"{name}.log")
            self._processes.append(member)
            member.start()
            if role.is_awaited:
                member.wait_until_ready()

    def _names(self, role: Role) -> list[str]:
        counts = {"api": self._apis, WORKER: self._workers}
        count = counts.get(role.name)
        return [role.name] if count is None else [f"{role.name}-{number + 1}" for number in range(count)]

    def _member(self, name: str, role: Role, log: Path) -> Member:
        places = role.places()
        if name == FIRST_API and self._api_port:
            places["FOLDLINE_PORT"] = str(self._api_port)
        environment = {**self._environment, **role.environment, **places}
        if not self._has_keys:
            environment["FOLDLINE_API_KEYS"] = ""
        program = Program([*FOLDLINE, *role.arguments], log=log, environment=environment)
        return Member(
            name,
            Guarded(program),
            role.ready(places),
            url=role.url(places),
            metrics_url=role.metrics_url(places),
            is_once=role.is_once,
        )

    def _watch(self) -> None:
        while not self._is_stopping.wait(LOOK_SECONDS):
            for member in self.members:
                member.look()

    def _stop(self) -> None:
        """End all processes at the same time, and then the services they use."""
        with ThreadPoolExecutor(max_workers=len(self._processes) or 1) as pool:
            list(pool.map(Member.stop, reversed(self._processes)))
        for member in reversed(self._services):
            member.stop()
