"""Summary requests as jobs store them, and the policy, aims and gauge that follow from one."""

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
# The names that hooks know the kinds of jobs by.
HOOK_KINDS: Final[Mapping[str, str]] = MappingProxyType({RANGE_SUMMARY: "compact", BRANCH_SUMMARY: "branch"})


class LeftRange(NamedTuple):
    """The entries `first` to `last` (seqs) of a branch that the head left, with the edits in force at `edits_at`."""

    branch: int
    first: int
    last: int
    edits_at: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request for a summary. `is_asked`: a caller requested it; otherwise the trigger did.

    `policy` is a complete policy in its stored form, None for the session's. `until` is the seq of the last entry that
    was due at the time of the request: more entries become due after each summary, and they are not part of the
    request. `asked_at` are the tokens of the history at the newest message when a caller who named no target asked: a
    view below the trigger is brought down in proportion. `left` is the range to summarize, for a branch summary.
    `declined` is why the model's own provider did not write the summary, so that the service's summarizer does.
    `half_tokens` bounds what is read to the oldest half of what a model refused; `is_plain`: it refused that half too,
    and the ledger alone is the summary.
    """

    is_asked: bool
    instructions: str | None = None
    target_tokens: int | None = None
    policy: Mapping[str, Any] | None = None
    until: int | None = None
    asked_at: int | None = None
    left: LeftRange | None = None
    declined: str | None = None
    half_tokens: int | None = None
    is_plain: bool = False

    @property
    def kind(self) -> str:
        """The kind of job that makes the summary."""
        return RANGE_SUMMARY if self.left is None else BRANCH_SUMMARY

    @property
    def subject(self) -> str:
        """The id of the last entry that was left, for a branch summary, else "". A branch may have one job for each."""
        return "" if self.left is None else entry_id(self.left.branch, self.left.last)


AUTOMATIC: Final = SummaryRequest(is_asked=False)
# What a request becomes after a model refused it: no other request does.
OF_REFUSAL: Final = frozenset({"half_tokens", "is_plain"})


def as_asked(request: SummaryRequest) -> SummaryRequest:
    """The request of a job without what the job has learned from refusals."""
    return replace(request, declined=None, half_tokens=None, is_plain=False)


def request_to_json(request: SummaryRequest) -> bytes:
    """A request as a job stores it."""
    return dumps(asdict(request))


def request_from_json(parameters: bytes) -> SummaryRequest:
    """The request that a job stores, without fields that only a newer version knows."""
    known = {field.name for field in fields(SummaryRequest)}
    request = SummaryRequest(**{name: value for name, value in loads(parameters).items() if name in known})
    return request if request.left is None else replace(request, left=_left(*request.left[:4]))


def _left(branch: int, first: int, last: int, edits_at: tuple[int, int] | None) -> LeftRange:
    return LeftRange(branch, first, last, None if edits_at is None else (edits_at[0], edits_at[1]))


def requested_policy(path: Path, request: SummaryRequest) -> Policy:
    """The request's policy, or else the session's."""
    return path.session.policy if request.policy is None else from_stored(request.policy, PRESETS)


def requested_aims(path: Path, request: SummaryRequest) -> Aims:
    """The aims of a compaction for this request: its policy, goals and target."""
    return path.aims(requested_policy(path, request), request.target_tokens, asked_at=request.asked_at)


def targeted_gauge(aims: Aims, request: SummaryRequest, outline: Outline) -> Gauge:
    """The gauge of these aims, with the request's target if it has one, or what follows from when it was asked."""
    if request.target_tokens is not None:
        return aims.gauge.aimed(aims.goals, outline)
    return aims.gauge if request.asked_at is None else aims.gauge.when_asked(aims.goals, outline, request.asked_at)


def limited_to_due(path: Path, outline: Outline, request: SummaryRequest) -> SummaryRequest:
    """The request, limited to the entries that are due or hidden now."""
    aims = requested_aims(path, request)
    due = due_items(outline, aims.policy, targeted_gauge(aims, request, outline), is_asked=True)
    return replace(request, until=last_due(outline, max(due, outline.hidden_until)))
