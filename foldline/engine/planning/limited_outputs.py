"""Cuts the outputs of tools that exceed a policy's limits, when they arrive."""

from __future__ import annotations

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.messages import Message, result_text
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.output_limits import level_within


def limiting(policy: Policy, message: Message, entry: Facts) -> Edit | None:
    """The edit that cuts an output over the policy's limits to an excerpt, None if it needs none.

    `entry` has the facts of the message at its place. A late result is quoted as it is.
    """
    result = message.result
    if result is None or entry.is_late or not (policy.output_bytes or policy.output_lines):
        return None
    level = level_within(result_text(result), entry.excerpts, policy.output_bytes, policy.output_lines)
    return None if level is None else Edit("excerpt", entry.seq, entry.seq, level)
