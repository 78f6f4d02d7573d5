"""Reads features.toml and differences.toml, and checks whether the tests and values that they name exist.

The comments of the two files explain their keys.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from tests.parity.operations import OPERATIONS
from tests.support.processes.program import REPOSITORY

FOLDER: Final = Path(__file__).parent
OPEN: Final = "?"
# The scenario of a row about a function of the library that nothing of the service or the command calls for its user.
LIBRARY: Final = "library"

Kind: TypeAlias = Literal["function", "field", "constant", "setting", "environment", "flag", "row", "behaviour"]
Words: TypeAlias = Annotated[str, Field(min_length=1)]
Tests: TypeAlias = Annotated[
    tuple[Words, ...], BeforeValidator(lambda tests: (tests,) if isinstance(tests, str) else tuple(tests))
]


class Row(BaseModel):
    """A row of either file. Refuses unknown keys and empty texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Words
    ours: Words
    test: Tests = ()


class Feature(Row):
    """A row of `features.toml`: a feature of another system and its place in Foldline, with proof or a reason."""

    section: Words
    name: Words
    kind: Kind
    value: Any = None
    why: Words | None = None
    scenario: Tests = ()

    @model_validator(mode="after")
    def _is_shown_or_explained(self) -> Feature:
        given = [self.test != (), self.value is not None, self.why is not None]
        if sum(given) != 1:
            raise PydanticCustomError("shown_or_explained", "needs exactly one of test, value and why")
        if bool(self.scenario) != bool(self.test):
            raise PydanticCustomError("scenario", "needs a scenario if it has a test, and only then")
        return self

    @property
    def is_library(self) -> bool:
        """Whether only users of the library reach it."""
        return self.scenario == (LIBRARY,)


class Difference(Row):
    """A row of `differences.toml`: a defect of another system and what Foldline does, with proof."""

    defect: Words
    theirs: Words
    test: Annotated[Tests, Field(min_length=1)]
    reason: Words | None = None


def features(folder: Path = FOLDER) -> list[Feature]:
    """All features, in the order of the file.

    Raises:
        ValueError: a row is invalid; the message names it.
    """
    return [
        Feature(system=system, section=section, name=name, **row)
        for system, sections in _read(folder / "features.toml")
        for section, rows in sections.items()
        for name, row in rows.items()
    ]


def differences(folder: Path = FOLDER) -> list[Difference]:
    """All differences, in the order of the file.

    Raises:
        ValueError: a row is invalid; the message names it.
    """
    return [
        Difference(system=system, defect=defect, **row)
        for system, rows in _read(folder / "differences.toml")
        for defect, row in rows.items()
    ]


def _read(file: Path) -> Iterator[tuple[str, Any]]:
    yield from tomllib.loads(file.read_text("utf-8")).items()


def is_there(test: str) -> bool:
    """Whether a test exists: a function in a test file, or an operation such as `neurolink prune`."""
    path, *names = test.partition("[")[0].split("::")
    if names:
        return tuple(names) in _defined(REPOSITORY / path)
    system, _, operation = path.partition(" ")
    return (system.replace("-", "_"), operation) in OPERATIONS


@cache
def _defined(file: Path) -> frozenset[tuple[str, ...]]:
    """The functions and methods of a file, as (function,) or (class, method)."""
    body = ast.parse(file.read_text("utf-8")).body if file.is_file() else []
    classes = [((node.name,), node.body) for node in body if isinstance(node, ast.ClassDef)]
    return frozenset(
        (*within, node.name)
        for within, nodes in [((), body), *classes]
        for node in nodes
        if isinstance(node, ast.FunctionDef)
    )


def held_by(name: str, like: Any) -> Any:
    """The value of the library's `module:name`, in the shape of `like`.

    For a registry these are the windows of the models in `like`, for a tuple of named items their names.

    Raises:
        LookupError, AttributeError, ImportError: the name does not exist.
    """
    module, _, names = name.partition(":")
    found: Any = reduce(_item, names.split("."), import_module(module))
    if isinstance(like, dict):
        return {model: found.window(*reversed(model.split("/"))) for model in like}
    return [getattr(item, "name", item) for item in found] if isinstance(found, tuple) else found


def _item(found: Any, name: str) -> Any:
    if isinstance(found, Mapping):
        return found[name]
    if isinstance(found, tuple):
        return {item.name: item for item in found}[name]
    return getattr(found, name)
