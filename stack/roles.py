"""The kinds of Foldline's processes, from docker/compose.yaml, and their addresses on loopback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any, Final

from stack.compose import services
from stack.processes.signs import Answers, Ends, Sign
from stack.services.ports import HOST, free_port

WORKER: Final = "worker"


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of process: the arguments of `foldline`, its environment, and whether others wait until it is ready.

    It is ready when its operator's port answers at `health_path`; without a path, when it has ended by itself.
    `published` is the variable with its port for users, if it has one.
    """

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    is_awaited: bool
    health_path: str | None
    published: str | None

    @property
    def is_once(self) -> bool:
        return self.health_path is None

    def places(self) -> dict[str, str]:
        """The variables with which one process listens on free ports of loopback, instead of those of a container."""
        ports = {name: str(free_port()) for name in self.environment if name.endswith("_PORT")}
        return ports | {name: HOST for name in self.environment if name.endswith("_HOST")}

    def ready(self, places: Mapping[str, str]) -> Sign:
        """The sign that a process with these variables is ready."""
        if self.health_path is None:
            return Ends()
        return Answers(int(places["FOLDLINE_METRICS_PORT"]), self.health_path)

    def metrics_url(self, places: Mapping[str, str]) -> str:
        """The address of a process's operator's port; empty for a process that ends by itself."""
        return "" if self.is_once else f"http://{HOST}:{places['FOLDLINE_METRICS_PORT']}"

    def url(self, places: Mapping[str, str]) -> str:
        """The address of a process for users; empty if it has none."""
        return f"http://{HOST}:{places[self.published]}" if self.published else ""


def roles(variables: Mapping[str, str]) -> list[Role]:
    """All roles with these variables, each after those that it depends on.

    Raises:
        InvalidCompose: docker/compose.yaml is not valid, or lacks a variable.
    """
    found = services(variables)
    after = {name: service.get("depends_on", {}).keys() & found.keys() for name, service in found.items()}
    awaited = set().union(*after.values())
    return [_role(name, found[name], is_awaited=name in awaited) for name in TopologicalSorter(after).static_order()]


def alike(found: Sequence[Role]) -> list[Role]:
    """The same roles, but with one kind of worker for all queues instead of one for each."""
    workers = [role for role in found if role.arguments[0] == WORKER]
    others = [role for role in found if role not in workers]
    return [*others, replace(workers[0], name=WORKER, arguments=(WORKER,))]


def _role(name: str, service: Mapping[str, Any], *, is_awaited: bool) -> Role:
    environment = {variable: value for variable, value in service["environment"].items() if value is not None}
    targets = {str(port["target"]) for port in service.get("ports", ())}
    return Role(
        name=name,
        arguments=tuple(service["command"]),
        environment=environment,
        is_awaited=is_awaited,
        health_path=_health_path(service["healthcheck"]),
        published=next((variable for variable, value in environment.items() if value in targets), None),
    )


def _health_path(check: Mapping[str, Any]) -> str | None:
    """The path in a service's health check; None if the check is disabled."""
    if check.get("disable"):
        return None
    _kind, _program, path = check["test"]
    return str(path)
