"""Runs the `console run` blocks of docs/operate.md in a shell beside a running stack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.services.binaries import postgres_folder
from stack.stack import Stack
from tests.support.processes.program import REPOSITORY

PAGE = (REPOSITORY / "docs" / "operate.md").read_text("utf-8")
BLOCKS = re.findall(r"^```console run\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell beside a stack, with its addresses, and with foldline and PostgreSQL on PATH."""
    folders = (Path(sys.executable).parent, postgres_folder(None, tmp_path), os.environ["PATH"])
    with Stack(workers=0, without=("beat", "flower")) as stack:
        yield os.environ | stack.variables | {"PATH": os.pathsep.join(map(str, folders))}


@pytest.mark.timeout(180)
def test_every_command_of_the_page_succeeds(environment: dict[str, str], tmp_path: Path) -> None:
    assert len(BLOCKS) >= 5
    # In this order: a later block restores what an earlier one saved.
    for block in BLOCKS:
        typed = "\n".join(line.removeprefix("$ ") for line in block.splitlines())
        done = subprocess.run(
            ["sh", "-euxc", typed], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{block}{done.stdout}{done.stderr}"
    assert (tmp_path / "foldline.dump").stat().st_size > 0
    assert (tmp_path / "backup.db").stat().st_size > 0
