"""Entity tags in conditional requests."""

from __future__ import annotations

import pytest
from foldline_api.http.etags import InvalidTag, is_named, versions_in, view_tag

from foldline.engine.formats import FORMATS


@pytest.mark.parametrize(
    ("given", "versions"),
    [
        ([], None),
        (["*"], None),
        (['"2"'], {2}),
        (["2"], {2}),
        *(([view_tag(2, name)], {2}) for name in (*FORMATS, "openai-responses_2")),
        (['"1", "2-native"'], {1, 2}),
        (['"1"', '"2"'], {1, 2}),
        (['W/"1"'], set()),
        (['W/"1", "2"'], {2}),
        (['W/"of-another"'], set()),
    ],
)
def test_if_match_allows_the_versions_it_names_but_none_weakly(given: list[str], versions: set[int] | None) -> None:
    assert versions_in(given) == versions


@pytest.mark.parametrize("text", ["soon", '"soon"', "", '"1", soon', '"-1"', '"1', "1" * 19])
def test_a_text_that_is_no_tag_is_refused(text: str) -> None:
    with pytest.raises(InvalidTag):
        versions_in([text])


@pytest.mark.parametrize(
    ("given", "is_known"),
    [
        ([], False),
        (["*"], True),
        (['"2-openai"'], True),
        (['W/"2-openai"'], True),
        (['"1-openai", W/"2-openai"'], True),
        (['"1-openai"', '"2-openai"'], True),
        (['"2-native"'], False),
        (['"2"'], False),
        (["soon"], False),
    ],
)
def test_if_none_match_names_a_view_by_its_tag_weak_or_not(given: list[str], *, is_known: bool) -> None:
    assert is_named(view_tag(2, "openai"), given) is is_known
