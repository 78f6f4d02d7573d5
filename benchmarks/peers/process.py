"""A peer in a process of its own, which is prepared once and then timed run by run, without its start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from benchmarks.harness import NotMeasurable
from benchmarks.peers.install import CACHE, installed_node, npm_peer, python_peer

HERE: Final = Path(__file__).parent
DRIVERS: Final = HERE / "drivers"
# LiteLLM's wheel has the table of o200k under the name that tiktoken gives it.
TABLES: Final = Path("litellm", "litellm_core_utils", "tokenizers")
# No peer fetches or sends anything while it is timed.
OFFLINE: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_OFFLINE": "1",
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_TELEMETRY": "off",
}
GRACE_SECONDS: Final = 10

Launch: TypeAlias = tuple[list[str | Path], dict[str, str]]


@dataclass(slots=True, eq=False)
class Peer:
    """A peer with a job; a context manager. It is installed and started when it is timed first, and stopped at the end.

    `name` is its driver's. `task` is the driver's too, and `job` what the driver needs for it.
    """

    name: str
    task: str
    job: Mapping[str, Any]
    cache: Path = CACHE
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            # It closes the pipes, too.
            self._process.communicate()

    def time(self) -> float:
        """The seconds of one run.

        Raises:
            NotMeasurable: the peer could not be installed, or it ended.
        """
        if self._process is None:
            command, environment = _LAUNCHES[self.name](self.cache)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                cwd=HERE.parents[1],
                env=os.environ | OFFLINE | environment,
            )
            self._answer(json.dumps({"task": self.task, **self.job}))
        answer = json.loads(self._answer("run"))
        if not answer["size"]:
            raise NotMeasurable(self.name, "gave an empty result")
        return float(answer["seconds"])

    def _answer(self, line: str) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise NotMeasurable(self.name, "was not started")
        try:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise NotMeasurable(self.name, "ended") from error
        answer = process.stdout.readline()
        if not answer:
            raise NotMeasurable(self.name, f"ended with the code {process.wait(GRACE_SECONDS)}")
        return answer


def _python(name: str, pins: str) -> Callable[[Path], Launch]:
    def launch(cache: Path) -> Launch:
        packages = python_peer(pins, cache)
        environment = {"PYTHONPATH": str(packages), "TIKTOKEN_CACHE_DIR": str(packages / TABLES)}
        # Without `site`, this environment's own packages are not in its way.
        return [sys.executable, "-S", "-m", f"benchmarks.peers.drivers.{name}_driver"], environment

    return launch


def _node(name: str, package: str) -> Callable[[Path], Launch]:
    def launch(cache: Path) -> Launch:
        folder = npm_peer(package, cache)
        return [installed_node(cache), DRIVERS / f"{name}.mjs", folder], {}

    return launch


# How each peer is started; the second name is that of its pins.
_LAUNCHES: Final[Mapping[str, Callable[[Path], Launch]]] = {
    "headroom": _python("headroom", "headroom"),
    "langchain": _python("langchain", "langchain"),
    "litellm": _python("litellm", "litellm"),
    "neurolink": _node("neurolink", "@juspay/neurolink"),
    "pi": _node("pi", "@mariozechner/pi-coding-agent"),
    "tiktoken": _python("tiktoken", "litellm"),
}
