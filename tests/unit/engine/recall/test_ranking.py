"""What a question looks for, and which text answers it best."""

from __future__ import annotations

from foldline.engine.recall.ranking import focus, question_of, weighted


def test_words_that_stand_together_are_looked_for_together() -> None:
    assert question_of("What is the retry limit?").together == ("retry limit",)
    assert "src/app.py" in question_of("who reads src/app.py").together


def test_a_text_in_which_they_stand_together_answers_better_also_across_a_line_end() -> None:
    asked = weighted(question_of("archive delay?"), {"archiv": 3, "delay": 3}, 100)
    together, apart = "The archive\ndelay is 24 days.", "The archive is full.\nA delay of 24 days."
    assert focus(asked, together).score > focus(asked, apart).score
