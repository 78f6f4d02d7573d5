"""The samples of parts in every format, walked in all directions."""

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.facts import facts_of
from foldline.engine.formats import FORMATS
from tools.format_cases import CASES, DROPPED, EVERYWHERE, KEPT, MAPPED, REPLACED, outcome

SAMPLES = [(part, source) for source, samples in CASES.items() for part in samples]
# What a provider refuses even from its own client, and what each says in its own way.
REPAIRED = {"image from the assistant", "image in a result", "blank text, alone", "blank text beside other parts"}
UNSIGNED = "reasoning, unsigned"


def test_every_format_has_samples_of_what_every_format_can_say() -> None:
    assert list(CASES) == list(FORMATS)
    assert all(samples.keys() >= EVERYWHERE for samples in CASES.values())


@pytest.mark.parametrize(("part", "source"), SAMPLES)
@pytest.mark.parametrize("target", FORMATS)
def test_what_becomes_of_a_part_is_what_lossy_says(part: str, source: str, target: str) -> None:
    fate, lossy = outcome(part, source, target)
    assert lossy == {KEPT: 0, MAPPED: 0, REPLACED: 1, DROPPED: 1}[fate]


@pytest.mark.parametrize(("part", "source"), SAMPLES)
def test_a_part_comes_back_as_it_was_in_its_own_format(part: str, source: str) -> None:
    if part not in REPAIRED | {UNSIGNED}:
        assert outcome(part, source, source) == (KEPT, 0)


@pytest.mark.parametrize(("part", "source"), SAMPLES)
def test_nothing_is_lost_in_the_native_format(part: str, source: str) -> None:
    assert outcome(part, source, "native") in {(KEPT, 0), (MAPPED, 0)}


@pytest.mark.parametrize(("part", "source"), SAMPLES)
def test_no_message_counts_nothing(part: str, source: str) -> None:
    assert all(facts_of(message).tokens for message in FORMATS[source].parse(CASES[source][part]))


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_message_without_a_role_is_refused_with_that_reason(format_name: str) -> None:
    with pytest.raises(InvalidMessage, match=r"^messages\[0\]\.role: expected .*, but it is missing$"):
        FORMATS[format_name].parse([{"content": "hello"}])
