from __future__ import annotations

import os
from pathlib import Path

import pytest

from charts.helm import MAJOR, fetched_helm, run_helm


def test_helm_is_of_the_major_version_that_is_asked_for() -> None:
    assert run_helm("version", "--short").stdout.startswith(f"v{os.environ.get('HELM', MAJOR)}.")


def test_helm_is_fetched_once() -> None:
    assert fetched_helm().stat().st_mtime_ns == fetched_helm().stat().st_mtime_ns


def test_a_helm_that_nobody_pinned_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM", "2")
    with pytest.raises(FileNotFoundError, match=r"helm-2\.txt"):
        fetched_helm()


def test_helm_sees_nothing_of_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HELM_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HELM_NAMESPACE", "of-the-user")
    printed = run_helm("env").stdout
    assert str(tmp_path) not in printed
    assert "of-the-user" not in printed
