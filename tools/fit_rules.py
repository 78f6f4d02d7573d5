"""`python -m tools.fit_rules`: fits the weights by which standing rules are recognised, and writes their table.

The sentences are those of the development set. Cross-validation leaves out whole groups, which are sentences that say
the same in several languages or follow one pattern. It chooses the threshold and prints what to expect of sentences
that the model has not seen.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, sqrt
from operator import mul
from pathlib import Path
from typing import Final, TypeAlias

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.languages import LANGUAGES
from foldline.engine.ledger.reading.rules import Features, features, parts

ROOT: Final = Path(__file__).parents[1]
SENTENCES: Final = ROOT / "benchmarks/fidelity/sets/rules_development.jsonl"
TABLE: Final = ROOT / "foldline/engine/ledger/reading/rule_weights.py"
FOLDS: Final = 5
EPOCHS: Final = 15
# How much large weights cost; beside it, a miss costs as much as a false find.
RIDGE: Final = 3e-5
# A feature of fewer sentences says nothing about others.
LEAST_SENTENCES: Final = 2
# The threshold finds as many rules as it can while this share of what is found are rules. Recall is about the same
# then. The sentences are harder than most that users write, but users write few rules among many other things.
LEAST_PRECISION: Final = 0.84
# Weights are kept in hundredths; smaller ones than this many are left out.
LEAST_HUNDREDTHS: Final = 10
_BY_CODE: Final = {language.name: language for language in LANGUAGES}

# The features of a sentence, each with its value.
Vector: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled sentence, as the model sees it: itself, and its parts that may be rules by themselves."""

    language: str
    is_rule: bool
    group: str
    whole: Vector
    others: Sequence[Vector]


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by feature, and what is added to their sum."""

    bias: float
    weights: Mapping[str, float]

    def margin(self, vector: Vector) -> float:
        """How far a sentence is on the side of rules."""
        return self.bias + sum(self.weights.get(name, 0.0) * value for name, value in vector)

    def best(self, example: Example) -> float:
        """The largest margin of a sentence and its parts."""
        return max(map(self.margin, (example.whole, *example.others)))


def examples(path: Path = SENTENCES) -> list[Example]:
    """The labelled sentences of a file."""
    return [_example(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _example(row: Mapping[str, str]) -> Example:
    language = _BY_CODE[row["language"]]
    whole, *others = (_vector(text, language) for text in parts(row["text"], language))
    return Example(language.name, row["label"] == "rule", row.get("group", row["text"]), whole, others)


def _vector(text: str, language: Language) -> Vector:
    return list(_values(features(text, language)))


def _values(found: Features) -> Iterator[tuple[str, float]]:
    for kind, names in found.items():
        value = 1 / sqrt(len(names) or 1)
        yield from ((f"{kind}|{' '.join(name)}", value) for name in sorted(names))


def fit(chosen: Sequence[Example], ridge: float = RIDGE, seed: int = 0) -> Model:
    """A logistic regression with a ridge penalty, by dual coordinate ascent (Shalev-Shwartz and Zhang, 2013)."""
    numbers = {name: number for number, name in enumerate(sorted(_frequent(chosen)))}
    known = [[(name, value) for name, value in example.whole if name in numbers] for example in chosen]
    vectors = [[value for _, value in vector] for vector in known]
    places = [[numbers[name] for name, _ in vector] for vector in known]
    signs = [1.0 if example.is_rule else -1.0 for example in chosen]
    scale = 1 / (ridge * len(chosen))
    steps = [1 / (1 + 0.25 * scale * (1 + sum(map(mul, vector, vector)))) for vector in vectors]
    duals = [0.0] * len(chosen)
    weights = [0.0] * len(numbers)
    bias = 0.0
    order = list(range(len(chosen)))
    chance = random.Random(seed)
    for _ in range(EPOCHS):
        chance.shuffle(order)
        for index in order:
            vector, sign = vectors[index], signs[index]
            margin = sign * (bias + sum(map(mul, map(weights.__getitem__, places[index]), vector)))
            change = (1 / (1 + exp(min(margin, 30.0))) - duals[index]) * steps[index]
            duals[index] += change
            change *= sign * scale
            bias += change
            for place, value in zip(places[index], vector, strict=True):
                weights[place] += change * value
    return Model(bias, dict(zip(numbers, weights, strict=True)))


def _frequent(chosen: Sequence[Example]) -> frozenset[str]:
    counts = Counter(name for example in chosen for name, _ in example.whole)
    return frozenset(name for name, count in counts.items() if count >= LEAST_SENTENCES)


def cross_validated(chosen: Sequence[Example], ridge: float = RIDGE) -> list[float]:
    """The margin of each sentence by a model that saw no sentence of its group."""
    groups = sorted({example.group for example in chosen})
    random.Random(0).shuffle(groups)
    fold_of = {group: number % FOLDS for number, group in enumerate(groups)}
    margins = [0.0] * len(chosen)
    for fold in range(FOLDS):
        model = fit([example for example in chosen if fold_of[example.group] != fold], ridge)
        for index, example in enumerate(chosen):
            if fold_of[example.group] == fold:
                margins[index] = model.best(example)
    return margins


def recall_and_precision(pairs: Iterable[tuple[bool, bool]]) -> tuple[float, float]:
    """Recall and precision of pairs: whether it is a rule, and whether it is taken for one."""
    counts = Counter(pairs)
    both = counts[True, True]
    return both / max(1, both + counts[True, False]), both / max(1, both + counts[False, True])


def threshold(chosen: Sequence[Example], margins: Sequence[float]) -> float:
    """The least margin from which on at least `LEAST_PRECISION` of the sentences are rules."""
    ordered = sorted(zip(margins, (example.is_rule for example in chosen), strict=True), reverse=True)
    rules = accumulate(is_rule for _, is_rule in ordered)
    return min(
        margin
        for number, ((margin, _), found) in enumerate(zip(ordered, rules, strict=True), 1)
        if found >= LEAST_PRECISION * number
    )


def _at(chosen: Sequence[Example], margins: Sequence[float], least: float) -> tuple[float, float]:
    return recall_and_precision(
        (example.is_rule, margin >= least) for example, margin in zip(chosen, margins, strict=True)
    )


def table(model: Model, least: float) -> str:
    """The module that ships the weights; a margin of `least` is 0 there."""
    rows: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, weight in model.weights.items():
        kind, _, name = key.partition("|")
        hundredths = round(weight * 100)
        if abs(hundredths) >= LEAST_HUNDREDTHS:
            rows[kind][hundredths].append(name)
    lines = [
        '"""The weights of `rules`, written by `python -m tools.fit_rules`: features by hundredths."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "from typing import Final",
        "",
        f"BIAS: Final = {model.bias - least:.3f}",
        "WEIGHTS: Final[Mapping[str, Mapping[int, str]]] = {",
    ]
    for kind in sorted(rows):
        lines.append(f'    "{kind}": {{')
        lines += [
            f"        {hundredths}: {json.dumps('|'.join(sorted(names)), ensure_ascii=False)},"
            for hundredths, names in sorted(rows[kind].items())
        ]
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def main() -> None:
    """Fit, print what cross-validation says, and write the table unless that is only looked at."""
    parser = argparse.ArgumentParser(description="Fit the weights by which standing rules are recognised.")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument("--ridge", type=float, default=RIDGE, help="how much large weights cost")
    options = parser.parse_args()
    chosen = examples()
    margins = cross_validated(chosen, options.ridge)
    least = threshold(chosen, margins)
    print(f"{len(chosen)} sentences; a rule from a margin of {least:.2f}. By sentences of other groups:")
    for code in ("all", *_BY_CODE):
        which = [index for index, example in enumerate(chosen) if code in {"all", example.language}]
        recall, precision = _at([chosen[index] for index in which], [margins[index] for index in which], least)
        print(f"{code:>4}: recall {recall:.3f}, precision {precision:.3f}")
    if not options.dry_run:
        TABLE.write_text(table(fit(chosen, options.ridge), least), "utf-8")


if __name__ == "__main__":
    main()
