from pathlib import Path

import pytest

from foldline.engine.wire import loads
from tools.openapi import description


def test_the_committed_description_is_that_of_the_program() -> None:
    committed = Path(__file__).parents[3] / "docs" / "openapi.json"
    assert committed.read_text(encoding="utf-8") == description(), "run `make docs` and commit docs/openapi.json"


def test_a_description_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = description()
    monkeypatch.setenv("FOLDLINE_PORT", "abc")
    assert description() == before


def test_every_operation_says_that_it_may_answer_with_a_problem() -> None:
    operations = [operation for path in loads(description())["paths"].values() for operation in path.values()]
    assert len(operations) > 40
    assert [operation["operationId"] for operation in operations if "default" not in operation["responses"]] == []
