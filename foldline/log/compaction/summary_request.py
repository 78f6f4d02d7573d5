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

RANGE: Final = "summary"
BRANCH: Final = "branch_summary"
# What jobs of these kinds are called by those who are told of them.
TOLD_AS: Final[Mapping[str, str]] = MappingProxyType({RANGE: "compact", BRANCH: "branch"})


class Left(NamedTuple):
    """What was left of a branch's path: the entries from `first` to `last`, seen through the edits at this place."""

    branch: int
    first: int
    last: int
    edits_at: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Ask:
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
    left: Left | None = None

    @property
    def kind(self) -> str:
        """The kind of a job that does it."""
        return RANGE if self.left is None else BRANCH

    @property
    def subject(self) -> str:
        """What tells it from others of its kind on the same branch: the last entry that was left."""
        return "" if self.left is None else entry_id(self.left.branch, self.left.last)


AUTOMATIC: Final = Ask(is_asked=False)


def ask_json(ask: Ask) -> bytes:
    """An ask as a job keeps it."""
    return dumps(asdict(ask))


def ask_of(parameters: bytes) -> Ask:
    """The ask a job keeps; what a newer version asked on top is not known here."""
    known = {field.name for field in fields(Ask)}
    ask = Ask(**{name: value for name, value in loads(parameters).items() if name in known})
    return ask if ask.left is None else replace(ask, left=_left(*ask.left[:4]))


def _left(branch: int, first: int, last: int, edits_at: tuple[int, int] | None) -> Left:
    return Left(branch, first, last, None if edits_at is None else (edits_at[0], edits_at[1]))


def asked_policy(path: Path, ask: Ask) -> Policy:
    """The policy that a compaction was asked for with, else the session's."""
    return path.session.policy if ask.policy is None else from_stored(ask.policy, PRESETS)


def asked_aims(path: Path, ask: Ask) -> Aims:
    """What a compaction aims at."""
    return path.aims(asked_policy(path, ask), ask.target_tokens)


def aimed_gauge(aims: Aims, ask: Ask, outline: Outline) -> Gauge:
    """The gauge of these aims, down to the target that was asked for, if one was."""
    return aims.gauge if ask.target_tokens is None else aims.gauge.aimed(aims.goals, outline)


def until_now(path: Path, outline: Outline, ask: Ask) -> Ask:
    """What is asked for, of what is due now and no more."""
    aims = asked_aims(path, ask)
    due = due_items(outline, aims.policy, aimed_gauge(aims, ask, outline), is_asked=True)
    return replace(ask, until=last_due(outline, due))
