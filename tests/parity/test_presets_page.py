from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from foldline.engine.policies.policy import policy_of, to_json
from foldline.engine.policies.presets import PRESETS
from tests.parity.features import differences, features
from tests.support.processes.program import REPOSITORY
from tools.presets_page import EXAMPLES, TITLES, page


def test_the_committed_page_is_that_of_the_lists_and_the_program() -> None:
    committed = (REPOSITORY / "docs" / "presets.md").read_text(encoding="utf-8")
    assert committed == page(), "run `make docs` and commit docs/presets.md"


def test_every_listed_system_has_a_title() -> None:
    assert {row.system for row in (*features(), *differences())} <= TITLES.keys()


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    lines = page().replace(r"\|", "").splitlines()
    tables = [(line, above) for above, line in pairwise(lines) if above.startswith("|")]
    assert len(tables) > len(features()) / 2
    assert [line for line, above in tables if line and line.count("|") != above.count("|")] == []


def test_windows_are_shown_once_for_the_models_that_share_them() -> None:
    row = "| openai: models | `gpt-4o`, `gpt-4o-mini`, `gpt-4-turbo`, `o1-mini`: 128,000; `gpt-4`: 8,192; "
    assert row in page()


def test_every_system_has_an_example_that_the_page_shows_as_json() -> None:
    typed = map(json.loads, re.findall(r"^```json\n(.*?)^```", page(), re.DOTALL | re.MULTILINE))
    shown = [policy for policy in typed if "preset" in policy]
    assert shown == [EXAMPLES[name].policy for name in TITLES]


@pytest.mark.parametrize("name", TITLES)
def test_an_example_changes_what_it_names_of_the_preset_and_nothing_else(name: str) -> None:
    given = EXAMPLES[name].policy
    before, after = (to_json(policy) for policy in (PRESETS[name], policy_of(given, PRESETS)))
    assert [stage["name"] for stage in after["stages"]] == [stage["name"] for stage in before["stages"]]
    named = [stage if isinstance(stage, dict) else {} for stage in given["stages"]]
    assert after["stages"] == [{**own, **more} for own, more in zip(before["stages"], named, strict=True)]
    assert after["stages"] != before["stages"]
    assert {key for key in before if before[key] != after[key]} == given.keys() - {"preset"}
    assert given.keys() > {"preset", "stages"}
