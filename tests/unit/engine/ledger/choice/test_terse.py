"""What a sentence loses where a summary has little room, and what it never loses."""

import pytest

from foldline.engine.ledger.choice.terse import terse


@pytest.mark.parametrize(
    ("sentence", "shorter"),
    [
        ("After the change p95 is 499 ms, this is much better.", "After the change p95 is 499 ms…"),
        ("It came in with commit 72dd58acf; everything before it is fine.", "It came in with commit 72dd58acf…"),
        ("This was shifted again, the demo is on Sunday.", "…the demo is on Sunday."),
        ("Mail ewan@sable.example. It is a bit quiet here today.", "Mail ewan@sable.example…"),
        ("Good news - it runs on worker-7 - this is what everyone likes.", "…- it runs on worker-7…"),
        ("接口地址是 api.example.com\N{FULLWIDTH COMMA}这样大家都很喜欢它。", "接口地址是 api.example.com…"),
        ("Die Tests laufen auf worker-7, das hat allen gefallen.", "Die Tests laufen auf worker-7…"),
    ],
)
def test_clauses_that_name_nothing_leave_a_mark(sentence: str, shorter: str) -> None:
    assert terse(sentence) == shorter


@pytest.mark.parametrize(
    "sentence",
    [
        "The limit is 40, but only in staging.",
        "The port is 8080, unless the proxy runs.",
        "Use worker-7, in the evenings.",
        "Use worker-7, never the old machine.",
        "It runs on worker-7, which you should restart.",
        "I have refunded $40; it takes three days.",
        "In staging, it listens on 8080.",
        "Le port est 8080, sauf en production.",
        "Der Port ist 8080, aber nicht im Test.",
        "El puerto es 8080, pero nunca de noche.",
        "端口是 8080\N{FULLWIDTH COMMA}不要改。",
        "We talked about the harbour, and the weather was fine.",
        "It has 12 rows.",
        "We will go with the second option, as noted in ADR-12.",
        "We dropped the cache layer, see PR-12 for why.",
        "He is allergic to peanuts, booking ABC-123 says so.",
        "I prefer dark mode, like in VSCode.",
        "After the change p95 is 499 ms, a quarter of the old time.",
        'She wrote "the port is 8080, a good choice".',
        "The port (8080, a good one) is open.",
        "",
    ],
)
def test_what_limits_the_rest_and_what_names_nothing_stays(sentence: str) -> None:
    assert terse(sentence) == sentence
