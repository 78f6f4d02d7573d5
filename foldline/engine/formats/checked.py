"""Checked access to JSON values a client sent: the value in its expected type, or `InvalidMessage` with its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from foldline.engine.errors import InvalidMessage

T = TypeVar("T")


def each(read: Callable[[Any], T], values: Iterable[Any], path: str) -> list[T]:
    """What `read` makes of each value; the path of an error gets `path` and the value's index in front.

    So a path is made only where something is wrong.
    """
    found: list[T] = []
    try:
        found.extend(map(read, values))
    except InvalidMessage as error:
        raise InvalidMessage(f"{path}[{len(found)}]{error.path}", error.detail) from None
    return found


def listed(value: Any, path: str) -> list[Any]:
    """`value` if it is a list."""
    if isinstance(value, list):
        return value
    raise mismatch(path, "a list", value)


def an_object(value: Any, path: str) -> dict[str, Any]:
    """`value` if it is a JSON object."""
    if isinstance(value, dict):
        return value
    raise mismatch(path, "an object", value)


def a_text(value: Any, path: str) -> str:
    """`value` if it is a string."""
    if isinstance(value, str):
        return value
    raise mismatch(path, "a string", value)


def an_optional_text(value: Any, path: str) -> str | None:
    """`value` if it is a string or null."""
    if value is None or isinstance(value, str):
        return value
    raise mismatch(path, "a string or null", value)


def a_kind(part: Any, path: str) -> str:
    """The `type` of a content part, once `part` is known to be an object that has one."""
    kind = an_object(part, path).get("type")
    if isinstance(kind, str):
        return kind
    raise mismatch(f"{path}.type", "a string", kind)


def in_either_case(value: Mapping[str, Any], name: str) -> Any:
    """The value of the key `name`, which is in camel case, or of the same name in snake case; None without either."""
    found = value.get(name)
    return value.get(snake_case(name)) if found is None else found


@cache
def snake_case(name: str) -> str:
    """A name in camel case, in snake case."""
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def no_role(message: Mapping[str, Any], path: str, roles: Iterable[str]) -> InvalidMessage:
    """The error for a message whose role is none of these, or that has none."""
    found = f"found {message['role']!r:.40}" if "role" in message else "but it is missing"
    return InvalidMessage(f"{path}.role", f"expected one of {', '.join(roles)}, {found}")


def mismatch(path: str, expected: str, found: Any) -> InvalidMessage:
    """The error for a value of another type than `expected`."""
    return InvalidMessage(path, f"expected {expected}, found {_type_name(found)}")


def _type_name(value: Any) -> str:
    if value is None:
        return "null or nothing"
    if isinstance(value, bool):
        return "a boolean"
    names: dict[type, str] = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
