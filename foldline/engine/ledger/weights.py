"""What the lines of a summary are worth, tried on planted facts; see `choose`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from foldline.engine.ledger.items import ASIDE, DOING, LATER, LOOKS, OPEN, ItemKind, Speaker

# The worth of a line by its kind, its speaker and its state; the first entry that applies counts.
WORTH: Final[Mapping[tuple[ItemKind, Speaker | None, str | None], float]] = MappingProxyType(
    {
        (ItemKind.RULE, None, None): 4.0,
        (ItemKind.PLAN, None, DOING): 3.0,
        (ItemKind.PLAN, None, OPEN): 2.2,
        (ItemKind.REQUEST, None, LATER): 2.5,
        (ItemKind.SAID, Speaker.ASSISTANT, LATER): 0.8,
        (ItemKind.SAID, Speaker.ASSISTANT, ASIDE): 0.05,
        (ItemKind.SAID, Speaker.USER, ASIDE): 0.05,
        (ItemKind.CALL, None, LOOKS): 0.05,
        (ItemKind.DECISION, Speaker.USER, None): 1.6,
        (ItemKind.DECISION, Speaker.ASSISTANT, ASIDE): 0.5,
        (ItemKind.DECISION, Speaker.ASSISTANT, None): 1.1,
        (ItemKind.PREFERENCE, None, None): 1.6,
        (ItemKind.REQUEST, None, None): 0.6,
        (ItemKind.SAID, Speaker.USER, None): 0.9,
        (ItemKind.SAID, None, None): 0.7,
        (ItemKind.CHANGED, None, None): 1.0,
        (ItemKind.READ, None, None): 0.1,
        (ItemKind.CALL, None, None): 0.9,
        (ItemKind.FAILURE, None, None): 0.8,
        (ItemKind.ENDING, None, None): 0.3,
    }
)
# What each name, number or identifier adds that no chosen line has, and how many of a line count.
SPECIFIC: Final = 0.6
MOST_SPECIFICS: Final = 4
FAILING: Final = 0.6
# What the newest line adds over the oldest, and the tokens that each line costs beside its own.
NEWNESS: Final = 0.3
LINE_TOKENS: Final = 8
# The most of the budget for rules, and for what is open, before the rest is weighed.
RULES_SHARE: Final = 0.6
OPEN_SHARE: Final = 0.3
# How much names count in what was only looked at, in what was said in passing, and in what no user said.
LOOKED_AT: Final = 0.1
IN_PASSING: Final = 0.15
OTHERS: Final = 0.7
