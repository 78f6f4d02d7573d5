"""Entity tags of views, and the headers `If-Match` and `If-None-Match` (RFC 9110, section 13.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

ANY: Final = "*"
WEAK: Final = "W/"
_VERSION: Final = re.compile(r'(?P<quote>"?)(?P<version>\d{1,18})(?:-[a-z][a-z0-9_-]*)?(?P=quote)')


class InvalidTag(ValueError):
    """The text is neither a version nor a tag of this service."""


def view_tag(version: int, format_name: str) -> str:
    """The tag of the view at a version, in a format."""
    return f'"{version}-{format_name}"'


def is_named(tag: str, given: Iterable[str]) -> bool:
    """Whether `If-None-Match` headers name the tag, strongly or weakly, or with `*`."""
    names = _names(given)
    return ANY in names or tag in [name.removeprefix(WEAK) for name in names]


def versions_in(given: Iterable[str]) -> set[int] | None:
    """The versions that `If-Match` headers allow; None if they allow every version. Weak tags allow none.

    Raises:
        InvalidTag: a text is neither a version nor a tag of this service.
    """
    names = _names(given)
    if not names or ANY in names:
        return None
    return {_version(name) for name in names if not name.startswith(WEAK)}


def _names(given: Iterable[str]) -> list[str]:
    # Tags of this service have no comma, so a tag that is cut at one is not of this service.
    return [name.strip() for value in given for name in value.split(",")]


def _version(name: str) -> int:
    match = _VERSION.fullmatch(name)
    if match is None:
        raise InvalidTag(name)
    return int(match["version"])
