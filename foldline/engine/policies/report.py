"""The additional figures of a compaction that a policy may report: a table of functions by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.edits import Edit
from foldline.engine.models.gauge import Frame, layout_of
from foldline.engine.outline import Outline, Unit, shown_messages
from foldline.engine.planning.stages.reads import read_shown
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.estimates import EXACT


@dataclass(frozen=True, slots=True)
class Happened:
    """A compaction in the policy's own measure: the outlines before and after it, and its edits.

    `level` is the level of use before it. If a summary is among the edits, `is_half` says that it is of the oldest half
    alone, as a model refused all that was due, and `is_without_model` that no model wrote it.
    """

    before: Outline
    after: Outline
    edits: Sequence[Edit] = ()
    level: str = "none"
    is_half: bool = False
    is_without_model: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: `of` computes it for one compaction, `together` combines those of several, oldest first."""

    of: Callable[[Happened], Any]
    together: Callable[[Sequence[Any]], Any]


def message_count(outline: Outline) -> int:
    """The number of messages in a view, with its summaries and markers."""
    return sum(map(shown_messages, outline.items)) + len(outline.runs)


def _hidden(outline: Outline) -> set[int]:
    units = (item for item in outline.items if isinstance(item, Unit) and item.is_hidden)
    return {seq for unit in units for seq in _seqs(unit)}


def _seqs(unit: Unit) -> Iterable[int]:
    # Of a run that nobody read, those of other entries too: the same before and after.
    return range(unit.first, unit.last + 1) if unit.unread else (entry.seq for entry in unit.entries)


def messages_removed(happened: Happened) -> int:
    """The number of messages that the compaction hid and no summary covers."""
    return len(_hidden(happened.after) - _hidden(happened.before))


def files_deduped(happened: Happened) -> int:
    """The number of files with a read that became a pointer to a later read."""
    superseded = {edit.first for edit in happened.edits if edit.kind == "supersede"}
    reads = (read_shown(entry) for _, entry in happened.before.results if entry.seq in superseded)
    return len({shown.read.path for shown in reads if shown})


def tier(happened: Happened) -> int:
    """The tier of a compaction, from 0 to 4: the one that worked. A job that was queued has done nothing yet.

    0: there are no edits. 1: contents of results or arguments were replaced or cut; all messages are in view. 2: a
    model's summary was published, of one chunk or of many. 3: the same of the oldest half alone, as a model refused all
    that was due. 4: without a model: the ledger stands for messages that were hidden, or is the summary.
    """
    kinds = {edit.kind for edit in happened.edits}
    if "condense" in kinds:
        return 4 if happened.is_without_model else 2 + happened.is_half
    return 4 if "hide" in kinds else int(bool(kinds))


def level_of(policy: Policy, frame: Frame, tokens: int) -> str:
    """The highest level of the policy's layout that a view reaches, or `none`.

    `tokens` are those of the whole view by the policy's counter. The layout decides whether its levels are of the whole
    window or of the room for input.

    Raises:
        UnknownModel, InvalidPolicy: there is no window.
    """
    window = frame.window(policy).tokens
    layout = layout_of(policy, window)
    output = layout.output_of(frame.model, frame.max_output_tokens)
    left = frame.budget(policy).limit if policy.counter == EXACT else layout.available(window, output)
    return next(reversed(layout.reached(tokens, window if layout.of_window else left)), "none")


def _first(values: Sequence[Any]) -> Any:
    return values[0]


def _last(values: Sequence[Any]) -> Any:
    return values[-1]


def _last_that_did_something(tiers: Sequence[int]) -> int:
    return next((tier for tier in reversed(tiers) if tier), 0)


# Tokens are those of the history, by the policy's counter.
_FIGURES: Final[Mapping[str, Figure]] = MappingProxyType(
    {
        "original_count": Figure(lambda happened: message_count(happened.before), _first),
        "final_count": Figure(lambda happened: message_count(happened.after), _last),
        "original_tokens": Figure(lambda happened: happened.before.tokens, _first),
        "final_tokens": Figure(lambda happened: happened.after.tokens, _last),
        "tier": Figure(tier, _last_that_did_something),
        "warning_level": Figure(lambda happened: happened.level, _first),
        "files_deduped": Figure(files_deduped, sum),
        "messages_removed": Figure(messages_removed, sum),
    }
)


def report_of(names: Iterable[str], happened: Happened) -> dict[str, Any]:
    """The values of these figures for one compaction; `names` are among `policy.FIGURES`."""
    return {name: _FIGURES[name].of(happened) for name in names}


def together(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of several compactions, oldest first, as if they were one.

    A figure that only some of them report is combined from those.
    """
    values: dict[str, list[Any]] = {}
    for report in reports:
        for name, value in report.items():
            values.setdefault(name, []).append(value)
    return {name: _FIGURES[name].together(found) for name, found in values.items()}
