"""A container that a cautious user would start: no capabilities, a root that is read-only, its data in a volume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic
from typing import Final

from docker.engine import Engine, EngineFailed
from stack.ports import HOST, free_port
from stack.waiting import comes_true

HEALTHY_SECONDS: Final = 60.0
# More than FOLDLINE_STOP_SECONDS.
GRACE_SECONDS: Final = 20
LOG_LINES_SHOWN: Final = "20"
CAUTION: Final = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")


@dataclass(frozen=True, slots=True)
class Container:
    """A running container, which serves the API at `url`."""

    engine: Engine
    image: str
    name: str
    url: str
    api_key: str

    def execute(self, *command: str) -> str:
        """What a command answers that is run inside."""
        return self.engine.run("exec", self.name, *command)

    def seconds_until_healthy(self) -> float:
        """How long it took until the image's own health check was content.

        Raises:
            EngineFailed: it never was; the message ends with the container's log.
        """
        begun = monotonic()
        check = self._health_check()
        if not comes_true(lambda: self.engine.tried("exec", self.name, *check).returncode == 0, HEALTHY_SECONDS):
            log = self.engine.tried("logs", "--tail", LOG_LINES_SHOWN, self.name)
            raise EngineFailed(f"it is not healthy after {HEALTHY_SECONDS:.0f} s:\n{log.stdout}{log.stderr}")
        return monotonic() - begun

    def stop(self) -> tuple[float, int]:
        """Ask it to end: the seconds that it took, and the exit code."""
        begun = monotonic()
        self.engine.run("stop", "--time", str(GRACE_SECONDS), self.name)
        seconds = monotonic() - begun
        return seconds, int(self.engine.run("inspect", "--format", "{{.State.ExitCode}}", self.name))

    def _health_check(self) -> list[str]:
        """The command; docker keeps it in another place than podman."""
        facts = self.engine.facts(self.image)
        kind, *command = (facts.get("Healthcheck") or facts["Config"]["Healthcheck"])["Test"]
        if kind != "CMD":
            raise EngineFailed(f"the health check is a {kind}, which needs a shell")
        return list(command)


@contextmanager
def serving(engine: Engine, image: str) -> Iterator[Container]:
    """`foldline serve` in a container, which is gone after the block, with its volume.

    Its ports are the same inside and outside, so that it may as well share the machine's network.
    """
    name, api_key, port, metrics_port = f"foldline-{token_hex(4)}", token_hex(16), free_port(), free_port()
    variables = {
        "FOLDLINE_API_KEYS": f"image:{api_key}",
        "FOLDLINE_PORT": str(port),
        "FOLDLINE_METRICS_PORT": str(metrics_port),
    }
    options = [option for variable, value in variables.items() for option in ("--env", f"{variable}={value}")]
    options += ["--volume", f"{name}:/data", "--publish", f"{HOST}:{port}:{port}"]
    try:
        engine.run("run", "--detach", "--name", name, *CAUTION, *options, image)
        yield Container(engine, image, name, f"http://{HOST}:{port}", api_key)
    finally:
        engine.tried("rm", "--force", name)
        engine.tried("volume", "rm", name)
