"""The kinds of jobs there are: how the summary that each is to publish is found, what it is made of, where it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from compaction.outline import Outline
from compaction.summary import SummaryInput
from sessions import left, planning, ranges
from sessions.asks import BRANCH, RANGE, Ask
from sessions.ranges import Applied
from sessions.state import Path
from sessions.store import Transaction
from sessions.summaries import Made, Wanted

Find: TypeAlias = Callable[[Transaction, Path, Ask, Outline], Wanted | None]
Material: TypeAlias = Callable[[Transaction, Path, Wanted, Ask, Outline], SummaryInput]
Apply: TypeAlias = Callable[[Transaction, Path, Made, Outline], Applied | None]
Follow: TypeAlias = Callable[[Transaction, Path, Ask, Outline], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is done for a job of a kind; the outline is always that of the path it publishes on.

    `find` says what it is to summarize, `material` is what a summarizer gets of that, `apply` puts the summary in its
    place, `follow` is what has to be asked for then. `is_edit`: it is worth nothing once the path was edited otherwise.
    """

    find: Find
    material: Material
    apply: Apply
    follow: Follow
    is_edit: bool


def _run_trigger(tx: Transaction, path: Path, _ask: Ask, _outline: Outline) -> None:
    planning.run_trigger(tx, path)


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        RANGE: Kind(ranges.find, ranges.material, ranges.apply, planning.request_rest, is_edit=True),
        BRANCH: Kind(left.find, left.material, left.apply, _run_trigger, is_edit=False),
    }
)
