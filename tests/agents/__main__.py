"""`python -m tests.agents`: real agents from npm work through the gateway; the exit code is 1 if one of them could not.

Each agent reads and writes files of a scratch folder with its own tools, as a scripted provider on loopback asks.
Its own history grows far beyond the window; what the provider gets has to fit, to keep the provider's rules, and to
have what the user said first. Halfway through, a compaction is undone. At the end, its session has one line with the
last answer, and an edited message begins a second one.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.harness import NotMeasurable
from benchmarks.peers.install import CACHE, NPM_PROGRAMS, installed_node, npm_peer
from foldline.engine.wire import dumps_text
from foldline.replay.embedded import kept_service
from foldline.terminal import answers, notes
from tests.agents.kinds import KEY, KEY_VARIABLE, KINDS, SAID, Kind
from tests.agents.session_checks import SessionChecks
from tests.support.processes.agent_provider import AgentProvider, Work, agent_provider

RUN_SECONDS = 900
FILES = 40
# One call in so many writes a file.
WRITE_EACH = 10
# The provider counts more tokens than Foldline does, as real ones do.
SCALE = 1.15
WORDS = ("config", "server", "module", "function", "returns", "error", "timeout", "retry", "cache", "index", "table")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one agent did, and what is wrong with it."""

    requests: int
    history_tokens: int
    view_tokens: int
    wrong: tuple[str, ...]


def main() -> int:
    """Run all agents. Returns the exit code."""
    options = _options()
    table = Table("agent", "requests", "its history, about", "largest view", "")
    is_good = True
    for name, kind in KINDS.items():
        notes().print(f"{name} ...")
        try:
            outcome = _run(kind, options.turns, options.window)
        except NotMeasurable as error:
            table.add_row(name, "", "", "", f"NOT RUN: {error}")
            continue
        is_good = is_good and not outcome.wrong
        sizes = (f"{tokens:,} tokens" for tokens in (outcome.history_tokens, outcome.view_tokens))
        table.add_row(name, f"{outcome.requests:,}", *sizes, "; ".join(outcome.wrong) or "good")
    answers().print(table)
    return 0 if is_good else 1


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.agents", description=__doc__)
    parser.add_argument("--turns", type=int, default=150, help="calls of a tool that each agent makes")
    parser.add_argument("--window", type=int, default=32_000, help="context window in tokens")
    return parser.parse_args()


def _run(kind: Kind, turns: int, window: int) -> Outcome:
    """One agent, until it ends by itself.

    Raises:
        NotMeasurable: it could not be installed.
    """
    program = _program(kind)
    with tempfile.TemporaryDirectory(prefix="foldline-agents-") as name:
        folder = Path(name)
        works = _works(_written_parts(folder / "repository"), folder / "repository", turns)
        with agent_provider(window, iter(works)) as provider, _gateway(folder, provider, window) as (address, metrics):
            provider.scale = SCALE
            checks = SessionChecks(address, provider)
            provider.before_answer = lambda number: checks.undo_newest() if number == turns // 2 else None
            kind.configure(folder / "home", address)
            done = subprocess.run(
                [*program, *kind.command],
                cwd=folder / "repository",
                env=_environment(kind, folder, address),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=RUN_SECONDS,
                check=False,
            )
            found = _outcome(done, provider, metrics(), turns)
            unwritten = [work.file for work in works if work.text is not None and not _is_written(work)]
            checks.look_at_the_end()
            wrong = (*found.wrong, *(f"{file} was not written" for file in unwritten[:1]), *checks.wrong)
            return replace(found, wrong=wrong)


def _program(kind: Kind) -> list[Path]:
    package = npm_peer(kind.package, CACHE, NPM_PROGRAMS)
    return [next(parent for parent in package.parents if parent.name == "node_modules") / ".bin" / kind.program]


def _written_parts(repository: Path) -> list[str]:
    """Files of some two thousand tokens each."""
    repository.mkdir()
    chosen, parts = random.Random(1), [repository / f"part_{number}.txt" for number in range(FILES)]
    for part in parts:
        lines = (" ".join(chosen.choices(WORDS, k=12)) for _ in range(130))
        part.write_text("\n".join(lines), encoding="utf-8")
    return list(map(str, parts))


def _works(parts: Sequence[str], repository: Path, turns: int) -> list[Work]:
    """Parts to read, and now and then a file to write."""
    read = map(Work, itertools.islice(itertools.cycle(parts), turns))
    return [
        Work(str(repository / f"note_{at}.txt"), f"Part {at} is read.") if at % WRITE_EACH == WRITE_EACH - 1 else work
        for at, work in enumerate(read)
    ]


def _is_written(work: Work) -> bool:
    file = Path(work.file)
    return file.exists() and file.read_text(encoding="utf-8").strip() == work.text


@contextmanager
def _gateway(folder: Path, provider: AgentProvider, window: int) -> Iterator[Any]:
    settings = {
        "FOLDLINE_ANTHROPIC_BASE_URL": provider.url,
        "FOLDLINE_OPENAI_BASE_URL": f"{provider.url}/v1",
        "FOLDLINE_GATEWAY_CONTEXT_WINDOW": str(window),
        "FOLDLINE_API_KEYS": f"agents:{KEY}",
    }
    with kept_service(f"sqlite:///{folder}/gateway.db", settings) as service:
        yield service.url, service.metrics


def _environment(kind: Kind, folder: Path, address: str) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([str(installed_node().parent), os.environ.get("PATH", os.defpath)])
    # Some take their folder from the shell's variable.
    places = {"HOME": str(home), "PWD": str(folder / "repository"), "PATH": path}
    own = {"ANTHROPIC_BASE_URL": f"{address}/anthropic", KEY_VARIABLE: KEY, **dict(kind.variables)}
    return {**os.environ, **places, **own}


def _outcome(done: Any, provider: AgentProvider, metrics: str, turns: int) -> Outcome:
    sent = _largest(metrics)
    wrong = [
        f"it ended with {done.returncode}: {(done.stdout + done.stderr)[-200:]!r}" if done.returncode else "",
        f"{turns - provider.calls} calls were not made" if provider.calls < turns else "",
        f"{provider.refusals} requests did not fit" if provider.refusals else "",
        f"broken rules: {provider.invalid[0]}" if provider.invalid else "",
        *(f"the last request lacks {said!r}" for said in SAID if said not in dumps_text(provider.requests[-1])),
    ]
    return Outcome(len(provider.requests), sent, provider.largest, tuple(filter(None, wrong)))


def _largest(metrics: str) -> int:
    """The input tokens of all requests as they came, by their mean: a history that grows evenly has twice that."""
    found = [line for line in metrics.splitlines() if line.startswith('foldline_gateway_tokens_total{part="history"}')]
    calls = [line for line in metrics.splitlines() if line.startswith("foldline_gateway_calls_total{")]
    number = sum(float(line.split()[-1]) for line in calls)
    return int(2 * float(found[0].split()[-1]) / number) if found and number else 0


if __name__ == "__main__":
    sys.exit(main())
