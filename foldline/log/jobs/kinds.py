"""The kinds of jobs there are: how the summary that each is to publish is found, what it is made of, where it goes."""

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
Material: TypeAlias = Callable[[Transaction, Path, Wanted, SummaryRequest, Outline], SummaryInput]
Apply: TypeAlias = Callable[[Transaction, Path, Made, Outline], Applied | None]
Follow: TypeAlias = Callable[[Transaction, Path, SummaryRequest, Outline], None]


@dataclass(frozen=True, slots=True)
class JobKind:
    """What is done for a job of a kind; the outline is always that of the path it publishes on.

    `find` says what it is to summarize, `material` is what a summarizer gets of that, `apply` puts the summary in its
    place, `follow` is what has to be asked for then. `is_edit`: it is worth nothing once the path was edited otherwise.
    """

    find: Find
    material: Material
    apply: Apply
    follow: Follow
    is_edit: bool


def _run_trigger(tx: Transaction, path: Path, _ask: SummaryRequest, _outline: Outline) -> None:
    trigger.run_trigger(tx, path)


JOB_KINDS: Final[Mapping[str, JobKind]] = MappingProxyType(
    {
        RANGE_SUMMARY: JobKind(ranges.find, ranges.material, ranges.apply, trigger.request_rest, is_edit=True),
        BRANCH_SUMMARY: JobKind(
            branch_summary.find, branch_summary.material, branch_summary.apply, _run_trigger, is_edit=False
        ),
    }
)
