from compaction import wording
from compaction.messages import Message, Text, ToolResult, user
from compaction.tokens import count_message, count_text
from compaction.view import pins_message, summary_message


def test_both_forms_of_a_pointer_cost_the_same() -> None:
    assert count_text(wording.READ_AGAIN) == count_text(wording.READ_AWAY) == wording.pointer_tokens()


def test_each_saying_costs_what_its_message_takes() -> None:
    stub = Message("tool", (ToolResult("c1", (Text(wording.UNANSWERED),)),))
    assert wording.stub_tokens() == count_message(stub)
    assert wording.marker_tokens() == count_message(user(wording.HIDDEN))
    assert wording.summary_tokens("They talked.") == count_message(summary_message("They talked."))
    assert wording.pins_tokens(["a", "b"]) == count_message(pins_message(["a", "b"]))
    assert wording.pins_tokens([]) == 0
