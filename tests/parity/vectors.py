"""Parity vectors: recorded answers of other systems, one JSON object a line, and what they are compared by."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Vector:
    """One recorded answer; `bug` names the defect it comes from, if it comes from one."""

    system: str
    op: str
    id: str
    args: Json
    expect: Json
    bug: str | None

    @property
    def is_clean(self) -> bool:
        """Whether a careful implementation gives the same answer."""
        return self.bug is None


@dataclass(frozen=True, slots=True)
class Operation:
    """What answers the vectors of one operation.

    `answer` maps arguments to an answer. `is_safe` says of arguments and an answer whether that breaks no promise: what
    is asked where the recorded answer comes from a defect.
    """

    answer: Callable[[Json], Any]
    is_safe: Callable[[Json, Any], bool]


Operations: TypeAlias = Mapping[tuple[str, str], Operation]


def read_vectors(folder: Path) -> Iterator[Vector]:
    """All vectors of the folder's `*.jsonl` files, in the order of their names.

    Raises:
        ValueError: a line is none; names the file and the line.
    """
    for file in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            try:
                yield _vector(json.loads(line))
            except (KeyError, TypeError, ValueError) as error:
                message = f"{file}:{number}: no vector: {error!r}"
                raise ValueError(message) from error


def _vector(line: Json) -> Vector:
    bug = line["bug"] if line["class"] == "known_bug" else None
    return Vector(line["system"], line["op"], line["id"], expanded(line["args"]), expanded(line["expect"]), bug)


def expanded(value: Any) -> Any:
    """The value with each `{repeat, times}` and `{cat}` in it written out as the text it stands for."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"repeat", "times"}:
        return expanded(value["repeat"]) * value["times"]
    if value.keys() == {"cat"}:
        return "".join(expanded(part) for part in value["cat"])
    return {key: expanded(item) for key, item in value.items()}


def agrees(expected: Any, answer: Any) -> bool:
    """Whether an answer has all that is expected of it; it may have more fields."""
    if isinstance(expected, dict):
        return isinstance(answer, dict) and all(
            key in answer and agrees(item, answer[key]) for key, item in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(answer, list | tuple)
            and len(expected) == len(answer)
            and all(agrees(*pair) for pair in zip(expected, answer, strict=True))
        )
    if isinstance(expected, float) or isinstance(answer, float):
        return _is_number(answer) and isclose(expected, answer, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(expected) is type(answer) and bool(expected == answer)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
