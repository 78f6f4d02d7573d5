"""features.toml and differences.toml: complete, without duplicates, and true."""

from __future__ import annotations

from pathlib import Path

import pytest

import foldline
from foldline.engine.overflow import verdict_of
from tests.parity.__main__ import OWN
from tests.parity.features import LIBRARY, OPEN, Feature, differences, features, held_by, is_there
from tests.parity.test_parity import RECORDED
from tests.parity.vectors import read_vectors

FEATURES = features()
DIFFERENCES = differences()
SYSTEMS = {"neurolink", "agent-code", "codebuddy", "pi"}
VALUES = [row for row in FEATURES if row.value is not None]
# Tests in these folders talk to a service over HTTP, or start the command.
SCENARIOS = ("tests/e2e/", "tests/integration/api/")
LIBRARY_ROWS_MOST = 12
WORDINGS = [row for row in FEATURES if any(test.endswith("::test_every_wording_listed_is_known") for test in row.test)]


def named(row: Feature) -> str:
    return f"{row.system}, {row.section}: {row.name}"


def test_no_row_is_open() -> None:
    is_open = [named(row) for row in FEATURES if OPEN in row.test]
    assert not is_open, "\n".join(is_open)


def test_every_test_that_a_row_names_is_there() -> None:
    tests = {test for row in (*FEATURES, *DIFFERENCES) for test in row.test} - {OPEN}
    missing = sorted(test for test in tests if not is_there(test))
    assert not missing, "\n".join(missing)


def test_every_scenario_that_a_row_names_is_there_and_goes_over_http_or_the_command() -> None:
    scenarios = {scenario for row in FEATURES for scenario in row.scenario} - {LIBRARY}
    wrong = sorted(name for name in scenarios if not (name.startswith(SCENARIOS) and is_there(name)))
    assert not wrong, "\n".join(wrong)


def test_few_rows_are_reached_through_the_library_alone_and_these_name_its_function() -> None:
    rows = [row for row in FEATURES if LIBRARY in row.scenario]
    functions = [f"`foldline.{name}`" for name in foldline.__all__]
    wrong = [row for row in rows if not (row.is_library and any(name in row.ours for name in functions))]
    assert not wrong, "\n".join(map(named, wrong))
    assert len(rows) <= LIBRARY_ROWS_MOST, "\n".join(map(named, rows))


@pytest.mark.parametrize("row", VALUES, ids=named)
def test_the_library_holds_the_value_that_is_listed(row: Feature) -> None:
    assert held_by(row.ours, row.value) == row.value


@pytest.mark.parametrize("folder", [OWN, RECORDED], ids=["own", "recorded"])
def test_every_recorded_defect_is_explained(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("there are no recorded answers beside this checkout")
    recorded = {(vector.system.replace("_", "-"), vector.bug) for vector in read_vectors(folder) if vector.bug}
    explained = {(row.system, row.defect) for row in DIFFERENCES}
    assert {(system, bug) for system, bug in recorded if system in SYSTEMS} - explained == set()


@pytest.mark.parametrize("row", WORDINGS, ids=named)
def test_every_wording_listed_is_known(row: Feature) -> None:
    provider, _, wording = row.name.partition(": ")
    verdict = verdict_of(f"400: {wording}")
    assert (verdict.is_overflow, verdict.provider) == (True, provider)
