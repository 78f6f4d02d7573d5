"""`foldline presets`: the named policies."""

from __future__ import annotations

from typing import Annotated

import typer

from foldline.engine.policies.policy import Policy, to_json
from foldline.engine.policies.presets import PRESETS
from foldline.terminal import answers, print_json, table_of


def presets(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every parameter.")] = False
) -> None:
    """List the presets: when each compacts, how far down, and with which stages.

    Trigger and target are shares of the budget, less the tokens that are left free. What is kept recent is all that is
    named: a share of the budget, or so many messages, texts and tokens.
    """
    if as_json:
        print_json(answers(), [to_json(policy) for policy in PRESETS.values()])
        return
    columns = (
        ("preset", False),
        ("trigger", True),
        ("target", True),
        ("free", True),
        ("keeps recent", False),
        ("stages", False),
    )
    answers().print(table_of(columns, map(_row, PRESETS.values())))


def _row(policy: Policy) -> tuple[str, ...]:
    free = f"{policy.buffer_tokens:,}" if policy.buffer_tokens else ""
    stages = " → ".join(stage.name for stage in policy.stages)
    return policy.preset, f"{policy.trigger:.0%}", f"{policy.target:.0%}", free, _recent(policy), stages


def _recent(policy: Policy) -> str:
    """What the policy's summaries leave as it is: all of these."""
    own = policy.stage("summarize")
    most, tokens = own.number("keep_tokens_most"), own.number("keep_tokens", -1)
    parts = (
        (own.number("keep_messages"), "{:,} messages"),
        (own.share("keep_share"), "{:.0%} of all"),
        (own.number("keep_texts"), "{:,} texts"),
        (policy.keep_recent if tokens < 0 else 0.0, "{:.0%}"),
        (max(tokens, 0), f"{{:,}}–{most:,} tokens" if most else "{:,} tokens"),
    )
    return ", ".join(text.format(value) for value, text in parts if value)
