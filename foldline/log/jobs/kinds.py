"""The kinds of jobs, as a table: how each finds its range, makes the summarizer's input, and publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from foldline.engine.outline import Outline
from foldline.engine.summaries.prompt import SummaryInput
from foldline.log.compaction import branch_summary, ranges, trigger
from foldline.log.compaction.ranges import Applied
from foldline.log.compaction.summaries import Made, Wanted
from foldline.log.compaction.summary_request import BRANCH_SUMMARY, RANGE_SUMMARY, SummaryRequest
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction

Find: TypeAlias = Callable[[Transaction, Path, SummaryRequest, Outline], Wanted | None]
MakeInput: TypeAlias = Callable[[Transaction, Path, Wanted, SummaryRequest, Outline], SummaryInput]
Apply: TypeAlias = Callable[[Transaction, Path, Made, Outline], Applied | None]
Follow: TypeAlias = Callable[[Transaction, Path, SummaryRequest, Outline], None]


@dataclass(frozen=True, slots=True)
class JobKind:
    """The steps of a job; each gets the outline of the path that the job publishes on.

    `find` gives the summary to make, `make_input` the summarizer's input, `apply` publishes, and `follow` requests what
    comes next. `is_edit`: the summary replaces entries, and is superseded if the path was edited since the claim.
    """

    find: Find
    make_input: MakeInput
    apply: Apply
    follow: Follow
    is_edit: bool


def _run_trigger(tx: Transaction, path: Path, _request: SummaryRequest, _outline: Outline) -> None:
    trigger.run_trigger(tx, path)


JOB_KINDS: Final[Mapping[str, JobKind]] = MappingProxyType(
    {
        RANGE_SUMMARY: JobKind(ranges.find, ranges.make_input, ranges.apply, trigger.request_rest, is_edit=True),
        BRANCH_SUMMARY: JobKind(
            branch_summary.find, branch_summary.make_input, branch_summary.apply, _run_trigger, is_edit=False
        ),
    }
)
