"""What summaries are asked to be like, as jobs keep it, and what a compaction aims at by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline
from foldline.engine.planning.recent import due_items, last_due
from foldline.engine.policies.policy import Policy, from_stored
from foldline.engine.policies.presets import PRESETS
from foldline.engine.wire import dumps, loads
from foldline.log.storage.rows import Aims, Path
from foldline.log.storage.segments import entry_id

RANGE_SUMMARY: Final = "summary"
BRANCH_SUMMARY: Final = "branch_summary"
# What jobs of these kinds are called by those who are told of them.
HOOK_KINDS: Final[Mapping[str, str]] = MappingProxyType({RANGE_SUMMARY: "compact", BRANCH_SUMMARY: "branch"})


class LeftRange(NamedTuple):
    """What was left of a branch's path: the entries from `first` to `last`, seen through the edits at this place."""

    branch: int
    first: int
    last: int
    edits_at: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summary is to be like. `is_asked`: someone asked for it; otherwise the trigger did.

    `policy` is a whole one, in its stored form. `until` is the seq of the last entry that was due when it was asked
    for: what is due depends on what there is, and would be more after each summary. `left` is what it is to tell of,
    where that is another branch.
    """

    is_asked: bool
    instructions: str | None = None
    target_tokens: int | None = None
    policy: Mapping[str, Any] | None = None
    until: int | None = None
    left: LeftRange | None = None

    @property
    def kind(self) -> str:
        """The kind of a job that does it."""
        return RANGE_SUMMARY if self.left is None else BRANCH_SUMMARY

    @property
    def subject(self) -> str:
        """What tells it from others of its kind on the same branch: the last entry that was left."""
        return "" if self.left is None else entry_id(self.left.branch, self.left.last)


AUTOMATIC: Final = SummaryRequest(is_asked=False)


def request_to_json(ask: SummaryRequest) -> bytes:
    """An ask as a job keeps it."""
    return dumps(asdict(ask))


def request_from_json(parameters: bytes) -> SummaryRequest:
    """The ask a job keeps; what a newer version asked on top is not known here."""
    known = {field.name for field in fields(SummaryRequest)}
    ask = SummaryRequest(**{name: value for name, value in loads(parameters).items() if name in known})
    return ask if ask.left is None else replace(ask, left=_left(*ask.left[:4]))


def _left(branch: int, first: int, last: int, edits_at: tuple[int, int] | None) -> LeftRange:
    return LeftRange(branch, first, last, None if edits_at is None else (edits_at[0], edits_at[1]))


def requested_policy(path: Path, ask: SummaryRequest) -> Policy:
    """The policy that a compaction was asked for with, else the session's."""
    return path.session.policy if ask.policy is None else from_stored(ask.policy, PRESETS)


def requested_aims(path: Path, ask: SummaryRequest) -> Aims:
    """What a compaction aims at."""
    return path.aims(requested_policy(path, ask), ask.target_tokens)


def targeted_gauge(aims: Aims, ask: SummaryRequest, outline: Outline) -> Gauge:
    """The gauge of these aims, down to the target that was asked for, if one was."""
    return aims.gauge if ask.target_tokens is None else aims.gauge.aimed(aims.goals, outline)


def up_to_now(path: Path, outline: Outline, ask: SummaryRequest) -> SummaryRequest:
    """What is asked for, of what is due now and no more."""
    aims = requested_aims(path, ask)
    due = due_items(outline, aims.policy, targeted_gauge(aims, ask, outline), is_asked=True)
    return replace(ask, until=last_due(outline, due))
