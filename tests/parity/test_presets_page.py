from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from foldline.engine.policies.policy import policy_of, to_json
from foldline.engine.policies.presets import PRESETS
from tests.support.processes.program import REPOSITORY
from tools.presets_page import page
from tools.presets_reference import TITLES

# The bodies of requests that create a session with a policy.
BODIES = re.findall(r"-d '(\{[^']*\"policy\": [^']*)'\n", page())
POLICIES: list[dict[str, Any]] = [json.loads(body)["policy"] for body in BODIES]
CHANGED = {policy["preset"]: policy for policy in POLICIES if len(policy) > 1}


def rows(heading: str) -> list[str]:
    """The rows of the first table below a heading."""
    below = page().partition(f"# {heading}\n")[2]
    table = re.search(r"^\|.*?\n\|(?:---\|)+\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert table
    return table[1].splitlines()


def test_the_committed_page_is_that_of_the_text_and_the_presets() -> None:
    committed = (REPOSITORY / "docs" / "presets.md").read_text(encoding="utf-8")
    assert committed == page(), "run `make docs` and commit docs/presets.md"


def test_the_page_compares_all_presets() -> None:
    compared = rows("Compare the presets")
    assert [row.split("`")[1] for row in compared] == list(PRESETS)
    assert compared[0].startswith("| `foldline` | 105,600 (80 %) | 26,400 (20 %) | `deduplicate` → `prune` → ")
    codebuddy = "| `codebuddy` | 180,000 (90 % of the window) | 100,000 (50 % of the window) | "
    assert [row for row in compared if row.startswith(codebuddy)]


def test_values_are_listed_where_a_preset_has_its_own() -> None:
    assert rows("pi: values") == [
        "| `stages` | `summarize` | `summarize` |",
        "| `trigger` | 1.0 | 1.0 |",
        "| `target` | 0.5 | 0.5 |",
        *(f"| `{field}` | `pi` | `pi` |" for field in ("counter", "layout")),
        "| `transcript` | `pi` | `pi@program` |",
        "| `headings` | `pi` | `pi` |",
        *(f"| `{field}` | `true` | `true` |" for field in ("splits_turns", "lists_files", "trusts_usage")),
        "| `weighs_prefix` | `false` | `false` |",
        "| `least_target_tokens` | 0 | 0 |",
        "| `summarize.keep_tokens` | 16,384 | 20,000 |",
        "| `summarize.rounds_forward` |  | `true` |",
        "| `summarize.keeps_notes` |  | `true` |",
    ]


def test_each_system_has_a_first_day_and_an_example_with_other_values() -> None:
    assert re.findall(r"^## (.*)", page(), re.MULTILINE)[: len(TITLES)] == [
        f"If you come from {title}" for title in TITLES.values()
    ]
    assert CHANGED.keys() == {"foldline", *TITLES}


@pytest.mark.parametrize("name", CHANGED)
def test_an_example_changes_what_it_names_of_the_preset_and_nothing_else(name: str) -> None:
    given = CHANGED[name]
    before, after = (to_json(policy) for policy in (PRESETS[name], policy_of(given, PRESETS)))
    assert [stage["name"] for stage in after["stages"]] == [stage["name"] for stage in before["stages"]]
    named = [stage if isinstance(stage, dict) else {} for stage in given["stages"]]
    assert after["stages"] == [{**own, **more} for own, more in zip(before["stages"], named, strict=True)]
    assert after["stages"] != before["stages"]
    assert {key for key in before if before[key] != after[key]} == given.keys() - {"preset"}
    assert given.keys() > {"preset", "stages"}


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    lines = page().replace(r"\|", "").splitlines()
    tables = [(line, above) for above, line in pairwise(lines) if above.startswith("|")]
    assert len(tables) > 80
    assert [line for line, above in tables if line and line.count("|") != above.count("|")] == []
