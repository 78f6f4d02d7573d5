"""The floor plan: folders that one can take in at a glance, and one class name for one thing."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tests.support.processes.program import REPOSITORY

PRODUCT = ("foldline", "api/foldline_api", "worker/foldline_worker")
MODULES_IN_A_FOLDER = 14


def modules() -> list[Path]:
    return [path for root in PRODUCT for path in (REPOSITORY / root).rglob("*.py") if "versions" not in path.parts]


def test_no_folder_holds_more_than_about_a_dozen_modules() -> None:
    sizes = Counter(path.parent.relative_to(REPOSITORY) for path in modules())
    assert len(sizes) > 20
    assert {str(folder): size for folder, size in sizes.items() if size > MODULES_IN_A_FOLDER} == {}


def test_a_class_name_has_one_meaning() -> None:
    names = Counter(
        node.name
        for path in modules()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert len(names) > 200
    assert [name for name, number in names.items() if number > 1] == []
