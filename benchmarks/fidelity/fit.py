"""`python -m benchmarks.fidelity.fit`: searches weights for `foldline.engine.ledger.choice.weights` on planted facts.

It reads the development templates alone, in conversations of other seeds than those of the table, and chooses lines for
them without a service. One weight after the other is made larger and smaller; a change stays if enough more facts
survive, so a weight that nothing here speaks about keeps its value.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import Final

from benchmarks.fidelity.carriers import CARRIERS
from benchmarks.fidelity.conversation import Piece, pieces, size_of
from benchmarks.fidelity.drive import CHARS_PER_TOKEN
from benchmarks.fidelity.facts import templates
from benchmarks.fidelity.judge import has_fact
from benchmarks.fidelity.table import ROUNDS, SHARES, current
from foldline.engine.formats import FORMATS
from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.choice.choose import choose
from foldline.engine.ledger.choice.render import texts_for
from foldline.engine.ledger.choice.weights import FITTED, Weights
from foldline.engine.ledger.find import items_of
from foldline.engine.ledger.section_lines import places

SEEDS: Final = (100, 101, 102)
FACTORS: Final = (0.5, 0.75, 1.33, 2.0)
# Less than this is chance: one fact of all conversations is about as much.
LEAST_GAIN: Final = 0.0015
HEADINGS: Final = "foldline"
# Headings, and the line above a summary.
FIXED_TOKENS: Final = 50


@dataclass(frozen=True, slots=True)
class Conversation:
    """What can be chosen from at the end of a conversation.

    `tokens` are those of each line by its `order`. `having` are the lines that have each fact, and `budgets` the tokens
    for each share.
    """

    lines: Sequence[LedgerLine]
    tokens: Mapping[int, int]
    having: Sequence[frozenset[int]]
    budgets: Sequence[int]

    def survival(self, weights: Weights) -> float:
        """The mean share of the facts that the lines chosen for each budget have."""
        return fmean(self._survival(weights, budget) for budget in self.budgets)

    def _survival(self, weights: Weights, budget: int) -> float:
        chosen = {line.order for line in choose(self.lines, self.tokens, budget, weights=weights).ranked}
        return sum(not orders.isdisjoint(chosen) for orders in self.having) / len(self.having)


def conversations() -> Iterator[Conversation]:
    """The conversations to fit to, of each carrier and number of rounds."""
    found = templates("development")
    for number in ROUNDS:
        for carrier in CARRIERS:
            for seed in SEEDS:
                yield _conversation(pieces(carrier, found, number, seed))


def _conversation(made: Sequence[Piece]) -> Conversation:
    messages = [message for piece in made for message in piece.messages][:-1]
    parsed = FORMATS["openai"].parse(messages)
    lines = assemble((place, item) for place, message in enumerate(parsed) for item in items_of(message))
    said = [fact for piece in made for fact in piece.said]
    facts = current(said, [fact for piece in made for fact in piece.settled])
    room = [int(size_of(made[0].messages) * share / CHARS_PER_TOKEN) - FIXED_TOKENS for share in SHARES]
    texts, tokens = texts_for(lines, places(HEADINGS), max(room))
    having = [frozenset(order for order, text in texts.items() if has_fact(text, fact)) for fact in facts]
    return Conversation(lines, tokens, having, room)


def fitted(made: Sequence[Conversation], weights: Weights, passes: int) -> Weights:
    """The weights after so many passes of coordinate search, printed as they change."""
    best = _survival(made, weights)
    print(f"{best:.4f} at the beginning")
    for _ in range(passes):
        began = best
        for name in _names(weights):
            for factor in FACTORS:
                tried = _scaled(weights, name, factor)
                survival = _survival(made, tried)
                if survival > best + LEAST_GAIN:
                    weights, best = tried, survival
                    print(f"{best:.4f} {name} × {factor}", flush=True)
        if best == began:
            break
    return weights


def _survival(made: Sequence[Conversation], weights: Weights) -> float:
    return fmean(conversation.survival(weights) for conversation in made)


def _names(weights: Weights) -> Sequence[str | tuple[object, ...]]:
    return [*(each.name for each in fields(weights) if each.name != "kinds"), *weights.kinds]


def _scaled(weights: Weights, name: str | tuple[object, ...], factor: float) -> Weights:
    if isinstance(name, str):
        value = getattr(weights, name)
        return replace(weights, **{name: type(value)(value * factor)})
    kinds = {way: value * (factor if way == name else 1) for way, value in weights.kinds.items()}
    return replace(weights, kinds=kinds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fit the weights of the ledger's lines to planted facts.")
    parser.add_argument("--passes", type=int, default=2, help="the most passes over all weights")
    options = parser.parse_args()
    found = fitted(list(conversations()), FITTED, options.passes)
    for each in fields(found):
        if each.name != "kinds":
            print(f"    {each.name}: {getattr(found, each.name)}")
    for way, value in found.kinds.items():
        print(f"        ({', '.join(map(repr, way))}): {value:.3g},")
    sys.exit(0)
