"""What lines are worth beside each other."""

from __future__ import annotations

from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.ledger.choice.weights import FORMS, Weights
from foldline.engine.ledger.choice.worth import Worths
from foldline.engine.ledger.find import found_in
from foldline.engine.ledger.items import ASIDE, ItemKind
from foldline.engine.messages import Message, Text, ToolCall, ToolResult, user


def assistant(text: str) -> Message:
    return Message("assistant", (Text(text),))


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


def test_what_is_said_in_passing_is_worth_nothing_unless_it_brings_something_new() -> None:
    talk = [assistant("Let me read the assets first."), assistant("Let me open src/parser.py, which calls v-gateway.")]
    lines = assemble(found_in((), [user("Find the bug."), *talk, user("And now?")]))
    worths = Worths(lines, Weights())
    assert {line.text: worths.of(line) > 0 for line in lines if line.item.state == ASIDE} == {
        "Let me read the assets first.": False,
        "Let me open src/parser.py, which calls v-gateway.": True,
    }


def test_a_label_with_its_value_counts_little_if_only_the_assistant_said_it() -> None:
    listed, whole = "Flight Number: HAT084", "The passenger has booked flight HAT085 now."
    lines = assemble(found_in((), [assistant(f"The flights are these:\n- {listed}\n- {whole}")]))
    worths = Worths(lines, Weights())
    worth = {line.text: worths.of(line) for line in lines}
    assert worth[listed] < worth[whole] / 2


def test_a_remark_of_one_word_is_worth_less_than_a_sentence() -> None:
    lines = lines_of("Good.", "We freeze before the summer holidays.")
    worths = Worths(lines, Weights(newness=0.0))
    assert worths.of(lines[0]) < worths.of(lines[1])


def test_of_what_the_assistant_said_on_the_way_only_the_last_is_open() -> None:
    messages = [user("Please build all parts of the new release.")]
    for number, text in enumerate(("The build of part-1 passed.", "The build of part-2 passed.")):
        call = ToolCall(f"c{number}", "build", "{}")
        messages += [
            Message("assistant", (Text(text), call)),
            Message("tool", (ToolResult(call.id, (Text("ok"),)),)),
        ]
    lines = assemble(found_in((), messages))
    assert [line.text for line in lines if line.is_open and line.item.kind is ItemKind.SAID] == [
        "The build of part-2 passed."
    ]


def test_a_line_that_only_announces_others_is_worth_little() -> None:
    lines = lines_of("Several tests of the importer still fail:", "Several tests of the exporter still hang.")
    worths = Worths(lines, Weights(newness=0.0))
    assert worths.of(lines[0]) < worths.of(lines[1]) / 2


def test_records_that_were_looked_up_have_a_weight_of_their_own() -> None:
    messages = [user("What about my booking?")]
    for number, output in enumerate(('{"city": "Graz", "order": "KX204410"}', "Graz is near the order KX204411")):
        call = ToolCall(f"c{number}", "get_order", f'{{"number": {number}}}')
        messages += [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text(output),)),))]
    record, text = (line for line in assemble(found_in((), messages)) if line.item.kind is ItemKind.CALL)
    alike, apart = (Worths([record, text], Weights(looked_at=0.2, records=weight)) for weight in (0.2, 0.8))
    assert apart.of(record) > alike.of(record)
    assert apart.of(text) == alike.of(text)
