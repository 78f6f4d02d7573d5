"""The form of ids and names, and the largest count, that the columns hold. The API and imports check against these."""

from __future__ import annotations

import re
from typing import Final

# Ids are part of URLs, names are in text columns.
ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$"
NAME: Final = r"^[^\x00-\x1f\x7f]{1,200}$"
# The largest integer of PostgreSQL; no count of tokens comes near it.
LARGEST: Final = 2**31 - 1

_ID: Final = re.compile(ID)
_NAME: Final = re.compile(NAME)
# No text column takes a surrogate, and a pattern in the OpenAPI description cannot exclude it.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_id(text: str) -> bool:
    """Whether the text is a valid id of a session."""
    return _ID.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether the text is a valid name, such as a model's."""
    return _NAME.fullmatch(text) is not None and not _SURROGATE.search(text)
