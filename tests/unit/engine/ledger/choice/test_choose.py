"""What is chosen for a budget, and what a summary carries on for the next one."""

from __future__ import annotations

import json

from foldline.engine.ledger import snapshot
from foldline.engine.ledger.assemble import assemble
from foldline.engine.ledger.choice.render import summary_of
from foldline.engine.ledger.find import found_in
from foldline.engine.ledger.items import ItemAt
from foldline.engine.messages import Message, Text, ToolCall, user
from foldline.engine.tokens.counter import count_text


def assistant(text: str) -> Message:
    return Message("assistant", (Text(text),))


def said(*texts: str, place: int = 0) -> tuple[ItemAt, ...]:
    messages = [message for text in texts for message in (user(text), assistant("All right, that is done now."))]
    return found_in((), messages, place)


def test_rules_come_first_and_the_newest_stay() -> None:
    items = said(*(f"Never touch the folder number {number}." for number in range(100)), "The port is 4111.")
    text, choice, _ = summary_of(items, 120, "foldline")
    assert "Never touch the folder number 99." in text
    assert "Never touch the folder number 0." not in text
    assert choice.dropped_rules > 80
    assert count_text(text) > 100, "what is left of the budget is for more rules"
    assert f"- ({choice.dropped_rules} older rules did not fit.)" in text


def test_rules_that_all_fit_are_all_there_before_anything_else() -> None:
    rules = [f"Never touch the folder number {number}." for number in range(10)]
    items = said(*(f"The service s-{number} listens on port {4000 + number}." for number in range(50)), *rules)
    text, choice, _ = summary_of(items, 110, "foldline")
    assert choice.dropped_rules == 0
    assert all(f"- {rule}" in text for rule in rules)


def test_remarks_fill_what_is_left_and_take_no_room_from_others() -> None:
    values = [f"The service s-{number} listens on port {4000 + number}." for number in range(20)]
    older, newer = "Let me read the assets first.", "Let me look one level up."
    calls = [
        Message("assistant", (Text(remark), ToolCall(name, "read_file", '{"path": "a.css"}')))
        for name, remark in (("c", older), ("d", newer))
    ]
    items = found_in((), [*calls, *map(user, values)])
    whole = count_text(summary_of(items, 10_000, "foldline")[0])
    text = summary_of(items, whole - 4, "foldline").text
    assert newer in text
    assert older not in text
    assert all(value in text for value in values)
    assert newer not in summary_of(items, whole - 40, "foldline")[0]


def test_nothing_is_chosen_twice_and_the_budget_is_used() -> None:
    items = said(*(f"The service s-{number} listens on port {4000 + number}." for number in range(200)), "fyi", "fyi")
    text, choice, _ = summary_of(items, 600, "foldline")
    lines = text.split("\n")
    assert len(lines) == len(set(lines))
    assert 570 <= count_text(text) <= 600
    assert len(choice.lines) > 20


def test_no_line_is_cut_inside() -> None:
    sentences = [f"The service s-{number} listens on port {4000 + number}." for number in range(50)]
    text, *_ = summary_of(said(*sentences), 200, "foldline")
    assert {line.removeprefix("- ") for line in text.split("\n") if line.startswith("- The service")} <= set(sentences)


def test_the_twentieth_summary_has_what_the_first_had() -> None:
    items = said("The amber-gateway listens on port 4111.", "Never push to main.", "Dana owns the invoices table.")
    first, *_ = summary_of(items, 200, "foldline")
    for number in range(20):
        items = snapshot.snapshot_of(
            assemble((*items, *said(f"Look at part {number}, please.", place=100 * (number + 1))))
        )
        assert summary_of(items, 90, "foldline")[0]
    last, *_ = summary_of(items, 200, "foldline")
    for line in (
        "- The amber-gateway listens on port 4111.",
        "- Never push to main.",
        "- Dana owns the invoices table.",
    ):
        assert line in first
        assert line in last


def test_a_snapshot_is_bounded_and_outlives_its_storage() -> None:
    items = said(*(f"The service s-{number} listens on port {number}." for number in range(5_000)))
    kept = snapshot.snapshot_of(assemble(items))
    assert sum(len(item.text) for _, item in kept) < snapshot.MOST_TOKENS * snapshot.CHARS_PER_TOKEN
    assert snapshot.from_json(json.loads(json.dumps(snapshot.to_json(kept)))) == list(kept)
    assert snapshot.snapshot_of(assemble(kept)) == kept
    texts = " ".join(item.text for _, item in kept)
    assert "s-4990 " in texts, "of lines that are worth the same the newest stay"
    assert "s-0 " not in texts


def test_only_the_user_takes_a_rule_back() -> None:
    rule = "Response time must stay under 200 ms."
    reported = Message("assistant", (Text("Response time is 340 ms now."),))
    assert rule in [line.text for line in assemble(found_in((), [user(rule), reported]))]


def test_a_snapshot_of_too_many_lines_keeps_the_rules_and_the_newest() -> None:
    rule = "Never push to main without asking me."
    many = said(*(f"Item {number} of n-{number}." for number in range(snapshot.MOST_TOKENS // snapshot.LINE_TOKENS)))
    kept = snapshot.snapshot_of(assemble((*many, *said(rule, place=10_000))))
    texts = [item.text for _, item in kept]
    assert rule in texts
    assert "Item 0 of n-0." not in texts


def test_the_task_comes_before_what_is_open_since() -> None:
    later = [f"Later on please add a check for table_{number}_with_a_name." for number in range(60)]
    items = said("Fix the parser.", *later, "Thanks.")
    text, *_ = summary_of(items, 200, "foldline")
    assert "- Fix the parser." in text
    assert "table_59_" in text
    assert "table_0_" not in text


def test_where_rules_do_not_fit_nothing_else_takes_their_room() -> None:
    rules = [f"Never touch the folder part{number}, whatever happens." for number in range(30)]
    text, choice, _ = summary_of(said(*rules, *(f"Carry on with step {n}." for n in range(30))), 200, "foldline")
    assert "step 29" not in text
    assert choice.dropped_rules
    assert count_text(text) > 180
