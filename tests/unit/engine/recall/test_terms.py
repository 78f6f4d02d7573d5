from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.recall.terms import TERM_CHARS, ordered_terms, terms_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("foo_bar.py", {"foo_bar", "foo", "bar", "py"}),
        ("ERR-1234", {"err", "1234"}),
        ("parseHTTPHeader", {"parsehttpheader", "pars", "http", "header"}),
        ("创建数据库", {"创建", "建数", "数据", "据库"}),
        ("in Größe", {"grösse"}),
        ("the a of", set()),
    ],
)
def test_a_name_is_found_whole_and_by_its_parts(text: str, found: set[str]) -> None:
    assert terms_of(text) == found


@pytest.mark.parametrize(
    "forms", [("creates", "created", "creating", "create"), ("running", "runs"), ("files", "file")]
)
def test_the_forms_of_a_word_are_one_term(forms: tuple[str, ...]) -> None:
    assert len({frozenset(terms_of(form)) for form in forms}) == 1


@given(st.text())
def test_terms_mean_nothing_to_a_query_language(text: str) -> None:
    found = terms_of(text)
    assert all(term.replace("_", "a").isalnum() and len(term) <= TERM_CHARS for term in found)
    assert found == set(ordered_terms(text))
