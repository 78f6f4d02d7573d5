"""A package with hooks, installed in a folder: processes that get the folder by PYTHONPATH find it as any other."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Final

from worker.hooks import GROUP

METADATA: Final = "Metadata-Version: 2.1\nName: team-rules\nVersion: 1.0\n"


def install(folder: Path, source: str, **hooks: str) -> dict[str, str]:
    """The variables of a process that has the package; its hooks are named for what they are in its one module."""
    about = folder / "team_rules-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "team_rules.py").write_text(dedent(source))
    (about / "METADATA").write_text(METADATA)
    points = "".join(f"{name} = team_rules:{attribute}\n" for name, attribute in hooks.items())
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    return {"PYTHONPATH": str(folder)}
