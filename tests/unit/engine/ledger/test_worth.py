"""What lines are worth beside each other."""

from __future__ import annotations

from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.find import found_in
from foldline.engine.ledger.weights import FORMS, Weights
from foldline.engine.ledger.worth import Worths
from foldline.engine.messages import user


def lines_of(*texts: str) -> list[LedgerLine]:
    return assemble(found_in((), [user(text) for text in texts]))


def test_a_line_is_worth_less_if_many_others_have_its_words() -> None:
    lines = lines_of(*(f"The log of part-{number} looks noisy." for number in range(50)), "The lease of part-7 ended.")
    worths = Worths(lines, Weights(newness=0.0))
    assert worths.of(lines[-1]) > worths.of(lines[7])


def test_a_specific_adds_nothing_once_it_was_said() -> None:
    lines = lines_of("The gateway listens on port 4111.", "The tunnel wants 4111 as well.")
    worths = Worths(lines, Weights())
    before = worths.of(lines[1])
    worths.say(lines[0])
    assert worths.of(lines[1]) < before


def test_a_weight_of_forms_counts_for_lines_that_have_them() -> None:
    lines = lines_of("Our case has the number OPS-1774.", "Our case has been closed since then.")
    low, high = (Worths(lines, Weights(identifiers=weight)) for weight in (0.1, 5.0))
    assert high.of(lines[0]) > low.of(lines[0])
    assert high.of(lines[1]) == low.of(lines[1])


def test_no_form_of_specifics_is_in_two_groups() -> None:
    forms = [form for group in FORMS.values() for form in group]
    assert len(forms) == len(set(forms))
