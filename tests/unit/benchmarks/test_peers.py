"""The peers of the benchmark: what pins them, what is shown where one is missing, and how their drivers answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.harness import NotMeasurable, Result, Row, Together, Unmeasured, measure, show
from benchmarks.peers.drivers.timing import until_each_call
from benchmarks.peers.install import PINS
from benchmarks.peers.process import Peer
from tests.agents.kinds import KINDS
from tests.support.processes.program import REPOSITORY

PINNED = re.compile(r"^[\w.\-\[\]]+==[\w.+!]+ ", re.MULTILINE)
ABSENT = "a peer", "is not there"
ECHO = """
from benchmarks.peers.drivers.timing import serve

def prepare(job):
    print("a peer prints")
    return lambda: lambda: job["number"]

serve({"echo": prepare}, int)
"""


def never() -> float:
    pytest.fail("nobody has to wait for this side")


def absent() -> float:
    raise NotMeasurable(*ABSENT)


def pins() -> list[Path]:
    return sorted(path for path in PINS.iterdir() if path.is_file())


@pytest.mark.parametrize("path", pins(), ids=lambda path: path.name)
def test_the_pins_of_peers_have_no_addresses(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"--(extra-)?index-url|--find-links|registry|resolved", text)


@pytest.mark.parametrize("path", sorted(PINS.glob("*.txt")), ids=lambda path: path.name)
def test_each_package_of_a_peer_has_a_version_and_hashes(path: Path) -> None:
    named = re.findall(r"^\w.*(?:\n    --hash=sha256:[0-9a-f]{64}.*)+", path.read_text("utf-8"), re.MULTILINE)
    assert named
    assert len(named) == len(re.findall(r"^\w", path.read_text("utf-8"), re.MULTILINE))
    assert all(PINNED.match(each) for each in named)


def test_packages_of_npm_have_exact_versions() -> None:
    versions = json.loads((PINS / "package.json").read_text("utf-8"))["dependencies"]
    agents = {kind.package for kind in KINDS.values()}
    assert agents | {"@juspay/neurolink", "@mariozechner/pi-coding-agent"} == set(versions)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())


@pytest.mark.parametrize(("name", "missing"), [("tiktoken", "litellm"), ("neurolink", "node")])
def test_a_peer_that_cannot_be_installed_is_shown_and_the_run_goes_on(
    name: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with Peer(name, "compact", {}, cache=tmp_path / "peers") as peer:
        row = Row("a row", "ours", "theirs", time_ours=never, time_theirs=peer.time)
        after = Row("the next row", "ours", "theirs", time_ours=lambda: 1.0, time_theirs=lambda: 2.0, at_most=0.6)
        assert show([row, after])

    shown = capsys.readouterr().out
    assert "NOT MEASURED" in shown
    assert f"{missing} is not installed: ERROR: " in shown
    assert "the next row" in shown
    assert "kept" in shown


def test_rows_together_time_a_side_once_in_a_round_and_miss_the_rows_of_a_side_that_is_not_there() -> None:
    taken = Counter[str]()

    def ours() -> float:
        taken["ours"] += 1
        return 2.0

    def theirs() -> float:
        taken["theirs"] += 1
        return 4.0

    there = Row("there", "ours", "theirs", ours, theirs, at_most=0.5)
    other = Row("other", "ours", "ours", ours, ours)
    missing = Row("missing", "ours", "theirs", ours, absent)
    found = list(measure(Together((there, other, missing), 3, is_warmed_up=False)))

    assert taken == {"ours": 3, "theirs": 3}
    assert found == [
        Result(there, [2.0] * 3, [4.0] * 3),
        Result(other, [2.0] * 3, [2.0] * 3),
        Unmeasured(missing, " ".join(ABSENT)),
    ]


def test_a_driver_answers_each_line_with_seconds_and_a_size() -> None:
    lines = [json.dumps({"task": "echo", "number": 3}), "run", "run"]
    done = subprocess.run(
        [sys.executable, "-c", ECHO], input="\n".join(lines), capture_output=True, text=True, cwd=REPOSITORY, check=True
    )
    ready, *answers = done.stdout.splitlines()

    assert ready == "ready"
    assert [json.loads(answer)["size"] for answer in answers] == [3, 3]
    assert all(json.loads(answer)["seconds"] >= 0 for answer in answers)


def test_a_group_of_messages_ends_where_the_model_is_called() -> None:
    roles = ["user", "assistant", "tool", "tool", "assistant", "user"]
    groups = until_each_call(list(roles), lambda role: role == "assistant")
    assert list(groups) == [["user"], ["assistant", "tool", "tool"], ["assistant", "user"]]
