from __future__ import annotations

import json
from importlib import import_module
from textwrap import dedent

import pytest

import foldline
from foldline.engine import library, texts
from foldline.engine.tokens import estimates, output_limits
from tests.support.processes.program import python

OURS = {"foldline", "orjson", "quicktok", "regex"}


def installed_packages_of(imports: str) -> set[str]:
    """The top-level packages, beside those of the standard library, that these statements import."""
    script = """
        import json, sys
        before = set(sys.modules)
        {imports}
        found = {{name.partition(".")[0] for name in set(sys.modules) - before}}
        print(json.dumps(sorted(found - sys.stdlib_module_names)))
    """
    done = python("-c", dedent(script).format(imports=imports))
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_library_is_what_the_package_lists() -> None:
    assert (foldline.compact, foldline.budget) == (library.compact, library.budget)
    assert (foldline.count_tokens, foldline.fit_text) == (texts.count_tokens, texts.fit_text)
    assert (foldline.context_count, foldline.limit_output) == (estimates.context_count, output_limits.limit_output)
    assert all(callable(getattr(foldline, name)) for name in foldline.__all__)
    with pytest.raises(AttributeError, match="'foldline' has no attribute 'expand'"):
        _ = import_module("foldline").expand


def test_the_package_itself_imports_nothing() -> None:
    assert installed_packages_of("import foldline") == {"foldline"}


def test_the_library_imports_three_of_the_packages_that_it_is_installed_with() -> None:
    assert installed_packages_of(f"from foldline import {', '.join(foldline.__all__)}") == OURS


def test_the_first_image_imports_the_fourth() -> None:
    script = "from foldline.engine.images import sides; sides.longest_side('R0lGODlh')"
    assert installed_packages_of(script) == {"foldline", "imagesize"}


def test_so_does_all_of_the_engine() -> None:
    walk = "import pkgutil, foldline.engine as engine; [__import__(found.name) for found in "
    assert installed_packages_of(f"{walk}pkgutil.walk_packages(engine.__path__, 'foldline.engine.')]") == OURS
