from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

import foldline.cli.commands as commands_package
from foldline.cli.commands import COMMANDS
from foldline.cli.loading import MissingPackage, load
from foldline.cli.program import load_command
from tests.support.processes.program import python

SERVICE = {"alembic", "celery", "fastapi", "kombu", "pydantic", "redis", "sqlalchemy", "starlette", "uvicorn"}


def imported_by(*arguments: str) -> set[str]:
    """The top-level packages, and the modules of commands, that `foldline` with these arguments has imported."""
    script = """
        import atexit, json, sys
        from foldline.cli.main import main
        atexit.register(lambda: sys.stderr.write(json.dumps(list(sys.modules))))
        sys.argv = ["foldline", *sys.argv[1:]]
        main()
    """
    done = python("-c", dedent(script), *arguments)
    assert done.returncode == 0, done.stderr
    modules = set(json.loads(done.stderr))
    commands = {f"foldline.cli.commands.{listed.module}" for listed in COMMANDS.values()}
    return {name.partition(".")[0] for name in modules} | {
        name.rpartition(".")[2] + " command" for name in modules & commands
    }


def first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_has_the_first_sentence_of_a_commands_docstring(name: str) -> None:
    assert COMMANDS[name].help == first_sentence(load_command(name).help or "")


def test_the_table_has_every_module_of_a_command() -> None:
    folder = Path(str(commands_package.__file__)).parent
    found = {path.relative_to(folder).with_suffix("") for path in folder.rglob("[a-z]*.py")}
    assert {listed.module for listed in COMMANDS.values()} == {".".join(path.parts) for path in found}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_no_command_and_nothing_of_the_service(option: str) -> None:
    found = imported_by(option)
    assert "foldline" in found
    assert found & SERVICE == set()
    assert {name for name in found if name.endswith(" command")} == set()


@pytest.mark.parametrize("name", ["compact", "mcp", "models", "presets", "stats"])
def test_commands_without_a_database_load_nothing_of_the_service(name: str) -> None:
    found = imported_by(name, "--help")
    # Typer reads the options of a command with pydantic.
    assert found & SERVICE == {"pydantic"}
    assert {name for name in found if name.endswith(" command")} == {f"{name} command"}


def test_a_command_loads_itself_alone() -> None:
    found = imported_by("migrate", "--help")
    assert "sqlalchemy" in found
    assert {name for name in found if name.endswith(" command")} == {"migrate command"}


def test_a_misspelt_command_is_answered_with_the_nearest() -> None:
    done = python("-m", "foldline.cli.main", "stat")
    assert done.returncode == 2
    assert "Did you mean 'stats'?" in done.stderr


@pytest.mark.parametrize(
    ("missing", "arguments"), [("typer", ["--help"]), ("rich", ["presets"]), ("sqlalchemy", ["migrate"])]
)
def test_without_the_services_packages_one_line_says_how_to_install_them(missing: str, arguments: list[str]) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; from foldline.cli.main import main; main()"
    done = python("-c", script, *arguments)
    remedy = "install the service, as in pip install 'foldline[service]'"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"foldline: the package {missing} is not installed; {remedy}\n"


def test_without_the_extra_of_a_command_one_line_says_how_to_install_it() -> None:
    script = "import sys; sys.modules['mcp'] = None; from foldline.cli.main import main; main()"
    done = python("-c", script, "mcp")
    remedy = "install the extra `mcp`, as in pip install 'foldline[mcp]'"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"foldline: the package mcp is not installed; {remedy}\n"


def test_a_module_of_our_own_that_is_missing_is_no_package_to_install() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"foldline\.cli\.nothing"):
        load("foldline.cli.nothing")
    with pytest.raises(MissingPackage, match="no_such_package"):
        load("no_such_package")
