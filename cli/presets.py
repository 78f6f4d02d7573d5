"""`foldline presets`: the named policies."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.consoles import answers, print_json, table_of
from compaction.policy import Policy, to_json
from compaction.presets import PRESETS


def presets(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every parameter.")] = False
) -> None:
    """List the presets: when each compacts, how far down, and with which stages."""
    if as_json:
        print_json(answers(), [to_json(policy) for policy in PRESETS.values()])
        return
    columns = (("preset", False), ("trigger", True), ("target", True), ("keep recent", True), ("stages", False))
    answers().print(table_of(columns, map(_row, PRESETS.values())))


def _row(policy: Policy) -> tuple[str, ...]:
    shares = (f"{share:.0%}" for share in (policy.trigger, policy.target, policy.keep_recent))
    return policy.preset, *shares, " → ".join(stage.name for stage in policy.stages)
