"""What a sentence loses at its edges where room is short."""

from __future__ import annotations

import pytest

from foldline.engine.ledger.choice.brief import brief
from foldline.engine.ledger.choice.render import summary_of
from foldline.engine.ledger.find import found_in
from foldline.engine.messages import user


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("By the way, the port is 4111.", "the port is 4111."),
        ("Oh, one more thing: the port is 4111, thanks.", "the port is 4111."),
        ("Please note that the port is 4111.", "the port is 4111."),
        ("It turns out that orders_audit has no index.", "orders_audit has no index."),
        ("Could you please restart the gateway, by the way?", "restart the gateway?"),
        ("The case is OPS-17, in case you need to link it.", "The case is OPS-17."),
        ("Übrigens, der Port ist 4111, danke.", "der Port ist 4111."),
        ("Bitte beachte, dass der Port 4111 ist.", "der Port 4111 ist."),
        ("Au fait, le port est 4111, merci.", "le port est 4111."),
        ("Por cierto, el puerto es 4111, gracias.", "el puerto es 4111."),
        ("顺便说一下\uff0c这个服务的端口改成四千一百一十一了\uff0c谢谢。", "这个服务的端口改成四千一百一十一了。"),
    ],
)
def test_polite_words_at_the_edges_are_left_out(said: str, left: str) -> None:
    assert brief(said) == left


@pytest.mark.parametrize(
    "said",
    [
        "Yes, that one looks better.",
        "Correction: the port is 4111.",
        "So far the port is 4111.",
        "The note that Dana wrote says please, and thanks.",
        "Also known as the amber gateway.",
        "Ok, do it.",
        "Good tests: 4, bad tests: 5.",
    ],
)
def test_what_may_mean_something_stays(said: str) -> None:
    assert brief(said) == said


def test_rules_stay_word_for_word_where_sentences_are_brief() -> None:
    said = [f"By the way, the service s-{number} listens on port {4000 + number}, thanks." for number in range(40)]
    text = summary_of(
        found_in((), [user("Please never push to main, thanks."), *map(user, said)]), 300, "foldline"
    ).text
    assert "- Please never push to main, thanks." in text
    assert "- the service s-39 listens on port 4039." in text


def test_sentences_stay_as_they_were_said_where_there_is_room() -> None:
    said = "By the way, the amber-gateway listens on port 4111, thanks."
    text = summary_of(found_in((), [user(said)]), 300, "foldline").text
    assert f"- {said}" in text
