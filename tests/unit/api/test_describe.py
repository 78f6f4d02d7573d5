from pathlib import Path

from api.describe import description


def test_the_committed_description_is_that_of_the_program() -> None:
    committed = Path(__file__).parents[3] / "docs" / "openapi.json"
    assert committed.read_text(encoding="utf-8") == description(), "run `make openapi` and commit docs/openapi.json"
