"""The stage `prune`: clears old tool results until the target is reached."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter

from foldline.engine.facts import Facts
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.editing import clearing, excerpting
from foldline.engine.tokens.excerpts import LEVELS
from foldline.engine.tokens.measures import Measure


def prune(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear results, oldest first, until the target is reached; without `stops_at_target`, clear all of them.

    These results stay: those of less than `minimum_tokens`; those in the newest `keep_recent_tokens` of the view (else
    in the tokens that the policy keeps recent); the newest results up to `protect_tokens`; those of `protected_tools`;
    and reads that the pointers of superseded reads refer to. If clearing the others saves less than
    `minimum_saving_tokens`, nothing is cleared.

    Before that, if `excerpt_over_chars` is given, every longer result is cut to a shorter excerpt.
    """
    goals, own = parameters.goals, parameters.own
    if plan.tokens <= goals.target:
        return plan
    plan = _excerpting(outline, plan, own.number("excerpt_over_chars"))
    excess = plan.tokens - goals.target
    if excess <= 0:
        return plan
    older = min(plan.older_than(outline, own.number("keep_recent_tokens", goals.keep_recent)), outline.closed)
    results = plan.results_in_view(outline, parameters.horizon)
    tools = own.names("protected_tools")
    exposed = [found for found in results if found[1].tool.lower() not in tools] if tools else results
    protected = _newest(exposed, own.number("protect_tokens"), outline.measure)
    minimum = own.number("minimum_tokens")
    chosen = [
        found
        for found in exposed[: bisect_left(exposed, older, key=itemgetter(0))]
        if found[1].tokens >= minimum and found[1].seq not in protected
    ]
    least = own.number("minimum_saving_tokens")
    enough = max(excess, least) if own.number("stops_at_target") else None
    return clearing(outline, plan, "prune", chosen, enough_tokens=enough, least_tokens=least)


def _excerpting(outline: Outline, plan: Plan, longest: int) -> Plan:
    level = bisect_left(LEVELS, longest) - 1
    if level < 0:
        return plan
    in_view = plan.results_in_view(outline)
    long = ((index, entry) for index, entry in in_view if entry.chars > longest and index < outline.closed)
    return excerpting(outline, plan, "prune", long, level)


def _newest(results: Sequence[tuple[int, Facts]], tokens: int, measure: Measure) -> set[int]:
    """The seqs of the newest results whose contents have at least `tokens` together."""
    newest: set[int] = set()
    for _, entry in reversed(results):
        if tokens <= 0:
            break
        newest.add(entry.seq)
        tokens -= measure.content(entry)
    return newest
