"""The kinds of Foldline's processes, as docker/compose.yaml has them, and how they are moved to loopback."""

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

    Its operator's port answers at `health_path` when it is; without one, it ends by itself. `published` is the variable
    with the port that is for others than Foldline's own processes, if there is one.
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
        """Where one process of it shall listen, instead of where it would in a container."""
        ports = {name: str(free_port()) for name in self.environment if name.endswith("_PORT")}
        return ports | {name: HOST for name in self.environment if name.endswith("_HOST")}

    def ready(self, places: Mapping[str, str]) -> Sign:
        """How to know that a process at such places is ready."""
        if self.health_path is None:
            return Ends()
        return Answers(int(places["FOLDLINE_METRICS_PORT"]), self.health_path)

    def metrics_url(self, places: Mapping[str, str]) -> str:
        """Where a process at such places answers operators; empty for one that ends by itself."""
        return "" if self.is_once else f"http://{HOST}:{places['FOLDLINE_METRICS_PORT']}"

    def url(self, places: Mapping[str, str]) -> str:
        """What others than Foldline's own processes call a process at such places by; empty if they do not."""
        return f"http://{HOST}:{places[self.published]}" if self.published else ""


def roles(variables: Mapping[str, str]) -> list[Role]:
    """All roles, with these variables, each after those it comes after.

    Raises:
        InvalidCompose: docker/compose.yaml is not valid, or lacks a variable.
    """
    found = services(variables)
    after = {name: service.get("depends_on", {}).keys() & found.keys() for name, service in found.items()}
    awaited = set().union(*after.values())
    return [_role(name, found[name], is_awaited=name in awaited) for name in TopologicalSorter(after).static_order()]


def alike(found: Sequence[Role]) -> list[Role]:
    """The same with one kind of worker, which takes from all queues, in place of those that share them out."""
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
    """What docker/answers.py is asked for, where a service has to answer at all."""
    if check.get("disable"):
        return None
    _kind, _program, path = check["test"]
    return str(path)
