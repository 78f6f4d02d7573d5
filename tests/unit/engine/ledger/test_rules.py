"""Which sentences are standing rules, and that the shipped weights are those of the labelled sentences."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.fidelity.rules import outcomes, precision, recall, rows
from foldline.engine.ledger.find import items_of
from foldline.engine.ledger.items import ItemKind
from foldline.engine.ledger.reading.language import first_letters
from foldline.engine.ledger.reading.languages import LANGUAGES, language_of
from foldline.engine.ledger.reading.languages.english import ENGLISH
from foldline.engine.ledger.reading.rule_weights import BIAS
from foldline.engine.ledger.reading.rules import table
from foldline.engine.ledger.reading.vocabulary import NAME, UNKNOWN, Vocabulary, names, tokens
from foldline.engine.messages import user
from tests.support.function_calls import calls_in
from tools import fit_rules


def rules_in(text: str) -> list[str]:
    return [item.text for item in items_of(user(text)) if item.kind is ItemKind.RULE]


@pytest.mark.parametrize(
    "remark",
    [
        "Thanks, that looks good, keep going.",
        "Please continue with the next step.",
        "Let me know when you are done.",
        "Run the tests again and show me the output.",
        "Danke, das sieht gut aus, mach weiter.",
        "Merci, c'est bon, continue avec la suite.",
        "Gracias, se ve bien, sigue con el siguiente.",
        "谢谢。请继续下一步。",
        "Our interns must wear a badge.",
        "Unsere Kunden dürfen nicht rauchen.",
        "Je dois dire que c'est bien fait.",
        "El servidor nunca responde antes de las nueve.",
        "The red flag fell.",
        "Traceback (most recent call last):",
    ],
)
def test_filler_tasks_and_rules_of_others_are_none(remark: str) -> None:
    assert rules_in(remark) == []


@pytest.mark.parametrize(
    "rule",
    [
        "Keep answers short.",
        "One more thing: never push to main.",
        "Only Dana may approve refunds.",
        "Sprich Kunden immer mit Sie an.",
        "Les montants sont toujours en euros.",
        "Solo Marta puede aprobar facturas.",
        "未经同意不得删除文件。",
    ],
)
def test_a_rule_is_found_between_sentences_of_other_kinds(rule: str) -> None:
    assert rules_in(f"Look at the log.\n{rule}\nThanks!") == [rule]


def test_rules_are_found_among_the_labelled_sentences() -> None:
    pairs = outcomes(rows("development"))
    assert recall(pairs) >= 0.95
    assert precision(pairs) >= 0.90


@pytest.mark.timeout(300)
def test_the_shipped_weights_are_those_of_the_labelled_sentences() -> None:
    model = fit_rules.fit(fit_rules.examples())
    shipped = {
        f"{kind}|{' '.join(name)}": weight for kind, weights in table().items() for name, weight in weights.items()
    }
    # Other versions of Python add in another order. What is not shipped is small.
    small = fit_rules.LEAST_HUNDREDTHS / 100 + 0.02
    differing = [name for name, weight in model.weights.items() if abs(shipped.get(name, 0.0) - weight) > small]
    assert not differing, "run `python -m tools.fit_rules` and commit the table"
    assert shipped.keys() <= model.weights.keys()


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_the_shipped_threshold_is_that_of_the_labelled_sentences() -> None:
    chosen = fit_rules.examples()
    least = fit_rules.threshold(chosen, fit_rules.cross_validated(chosen))
    assert abs(fit_rules.fit(chosen).bias - least - BIAS) < 0.05


def test_cross_validation_leaves_out_whole_groups() -> None:
    same = [fit_rules.Example("en", is_rule=True, group="one", whole=[("classes|never", 1.0)], others=[])] * 8
    other = [
        fit_rules.Example("en", is_rule=False, group=f"{n}", whole=[("classes|the", 1.0)], others=[]) for n in range(8)
    ]
    assert max(fit_rules.cross_validated(same + other)[: len(same)]) < 0


def test_a_sentence_is_read_in_its_own_language() -> None:
    assert rules_in("Fix the parser.\nNo borres nunca los datos.\n不要删除文件。") == [
        "No borres nunca los datos.",
        "不要删除文件。",
    ]
    assert language_of("ok", ENGLISH) is ENGLISH


def test_an_expression_counts_as_one_word_and_a_capital_marks_a_name() -> None:
    vocabulary = Vocabulary({"never": "never under_no_circumstances", "person": "intern*"})
    text = "Under no circumstances may interns or Dana enter"
    assert vocabulary.classes(tokens(text), names(text)) == [
        ("never",),
        (UNKNOWN,),
        ("person",),
        (UNKNOWN,),
        (NAME,),
        (UNKNOWN,),
    ]


def test_the_first_letters_of_a_pattern_are_those_of_each_of_its_alternatives() -> None:
    assert first_letters("(?:decid(?:e|ed)|go with|neve?r) (?:the|a)") == {"deci", "go", "nev"}
    assert first_letters("(?:please )?(?:use|keep)") == frozenset()
    assert first_letters(r"(?:use|\d+)") == frozenset()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_all_languages_have_the_same_classes_of_words(language: Any) -> None:
    assert language.words.keys() == ENGLISH.words.keys()


@pytest.mark.parametrize(
    "piece",
    ["x", "Never touch file 7. ", "Never touch file 7.\n", "never, ", "不要删除。", "a: ", "don't ", "\n", "L'"],
)
def test_twice_the_text_takes_at_most_about_twice_the_work(piece: str) -> None:
    once, twice = (work_of(piece * times) for times in (600, 1_200))
    assert twice <= 2.2 * once + 200


def test_thirty_megabytes_in_one_line_take_no_more_work_than_what_is_read_of_them() -> None:
    read, more = (work_of("x" * size) for size in (100_000, 30_000_000))
    assert more <= read + 100


def work_of(text: str) -> int:
    """The number of calls, of Python's and of C's functions, in which the items of a user's message are found again."""
    message = user(text)
    items_of(message)
    return calls_in(lambda: items_of(message))
