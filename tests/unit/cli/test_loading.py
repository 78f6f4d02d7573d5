"""What `foldline serve` loads: nothing that a service of one process on SQLite does not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = (
    "import foldline.cli.program, foldline.cli.commands.processes.serve, sys; sys.stdout.write(' '.join(sys.modules))"
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules in the process of `foldline serve`."""
    found = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


@pytest.mark.parametrize("package", ["alembic", "limits", "psycopg", "redact_secret", "redis"])
def test_serving_loads_no_package_that_other_deployments_use(loaded: set[str], package: str) -> None:
    assert package not in loaded


def test_serving_loads_what_it_runs(loaded: set[str]) -> None:
    assert {"celery", "fastapi", "sqlalchemy"} <= loaded
