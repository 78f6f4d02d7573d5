"""What the lines of a summary are worth, as data that `benchmarks.fidelity.fit` tries on planted facts; see `worth`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from foldline.engine.ledger.items import ASIDE, DOING, LATER, LOOKS, OPEN, STORY, ItemKind, Speaker

Way: TypeAlias = tuple[ItemKind, Speaker | None, str | None]

# The worth of a line by its kind, its speaker and its state; the first entry that applies counts.
KINDS: Final[Mapping[Way, float]] = MappingProxyType(
    {
        (ItemKind.RULE, None, None): 4.0,
        (ItemKind.PLAN, None, DOING): 3.0,
        (ItemKind.PLAN, None, OPEN): 2.2,
        (ItemKind.REQUEST, None, LATER): 2.5,
        (ItemKind.SAID, Speaker.ASSISTANT, LATER): 0.8,
        (ItemKind.SAID, Speaker.ASSISTANT, ASIDE): 0.05,
        (ItemKind.SAID, Speaker.USER, ASIDE): 0.05,
        (ItemKind.CALL, None, LOOKS): 0.05,
        (ItemKind.DECISION, Speaker.USER, None): 2.0,
        (ItemKind.DECISION, Speaker.ASSISTANT, ASIDE): 0.5,
        (ItemKind.DECISION, Speaker.ASSISTANT, None): 2.0,
        (ItemKind.PREFERENCE, None, None): 1.6,
        (ItemKind.REQUEST, None, None): 0.6,
        # What a story says in words that name nothing comes after what the conversation says.
        (ItemKind.SAID, Speaker.SUMMARY, STORY): 0.1,
        (ItemKind.SAID, Speaker.USER, None): 1.2,
        (ItemKind.SAID, None, None): 1.2,
        (ItemKind.CHANGED, None, None): 1.3,
        (ItemKind.READ, None, None): 0.1,
        (ItemKind.CALL, None, None): 0.9,
        (ItemKind.FAILURE, None, None): 0.8,
        (ItemKind.ENDING, None, None): 0.3,
    }
)
# The worth of a specific by its form, in groups: when something is, what something is set to, what names one thing,
# names of many things.
FORMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "dates": ("date", "weekday", "time"),
        "values": ("money", "percent", "version", "number"),
        "identifiers": ("url", "email", "ticket", "constant", "hash", "mixed", "host"),
        "places": ("path", "flag", "snake", "code"),
        "names": ("name", "kebab", "camel", "acronym"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weights of `worth` and `choose`.

    - `dates`, `values`, `identifiers`, `places` and `names` are what a specific of these `FORMS` adds that no chosen
      line has. Of a line, at most `most_specifics` count. They count less in what was only `looked_at`, in the
      `records` that were, in what was said `in_passing`, and in what `others` than the user said.
    - `common` is how fast a line loses the worth of its kind as its words become commoner.
    - `failing` is what a failure adds, and `settling` what a sentence does that gives a new value or ends an error.
    - `newness` is what the newest line has over the oldest, and `lately` what the user's newest requests have.
    - A remark that is worth less than `least_remark` comes after all else.
    - Each line costs `line_tokens` beside its own.
    - `rules_share` is the share of the budget that rules take before what is open; they may take the rest after it.
      `open_share` is the most for the first request and what is open.
    """

    kinds: Mapping[Way, float] = field(default_factory=lambda: KINDS)
    dates: float = 0.8
    values: float = 0.6
    identifiers: float = 1.8
    places: float = 0.8
    names: float = 0.6
    most_specifics: int = 4
    common: float = 2.7
    failing: float = 1.5
    settling: float = 0.4
    newness: float = 0.15
    lately: float = 0.6
    line_tokens: float = 8
    rules_share: float = 0.6
    open_share: float = 0.3
    looked_at: float = 0.25
    records: float = 0.6
    in_passing: float = 0.15
    others: float = 0.7
    least_remark: float = 0.25


FITTED: Final = Weights()
