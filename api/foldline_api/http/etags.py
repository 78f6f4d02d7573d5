"""Entity tags: which versions `If-Match` allows, and whether `If-None-Match` names a view (RFC 9110, section 13.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

ANY: Final = "*"
WEAK: Final = "W/"
_VERSION: Final = re.compile(r'(?P<quote>"?)(?P<version>\d{1,18})(?:-[a-z]+)?(?P=quote)')


class InvalidTag(ValueError):
    """The text is neither a version nor a tag of this service."""


def view_tag(version: int, format_name: str) -> str:
    """The tag of a view that fits."""
    return f'"{version}-{format_name}"'


def is_named(tag: str, given: Iterable[str]) -> bool:
    """Whether `If-None-Match` headers name the tag; they may do so weakly, or name any."""
    names = _names(given)
    return ANY in names or tag in [name.removeprefix(WEAK) for name in names]


def versions_in(given: Iterable[str]) -> set[int] | None:
    """The versions that `If-Match` headers allow, to which weak tags add none; None if every version is allowed.

    Raises:
        InvalidTag: for a text that is neither a version nor a tag of this service.
    """
    names = _names(given)
    if not names or ANY in names:
        return None
    return {_version(name) for name in names if not name.startswith(WEAK)}


def _names(given: Iterable[str]) -> list[str]:
    # None of our tags holds a comma, so a tag that is cut at one is none of ours anyway.
    return [name.strip() for value in given for name in value.split(",")]


def _version(name: str) -> int:
    match = _VERSION.fullmatch(name)
    if match is None:
        raise InvalidTag(name)
    return int(match["version"])
