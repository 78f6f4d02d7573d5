from pathlib import Path

import pytest

from tools.openapi import description


def test_the_committed_description_is_that_of_the_program() -> None:
    committed = Path(__file__).parents[3] / "docs" / "openapi.json"
    assert committed.read_text(encoding="utf-8") == description(), "run `make docs` and commit docs/openapi.json"


def test_a_description_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = description()
    monkeypatch.setenv("FOLDLINE_PORT", "abc")
    assert description() == before
