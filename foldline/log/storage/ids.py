"""What columns can hold: how ids and names may look, and how large a count may be. The API and imports ask the same."""

from __future__ import annotations

import re
from typing import Final

# Ids go into addresses, names into columns of text.
ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$"
NAME: Final = r"^[^\x00-\x1f\x7f]{1,200}$"
# PostgreSQL's integer; no count of tokens comes near it.
LARGEST: Final = 2**31 - 1

_ID: Final = re.compile(ID)
_NAME: Final = re.compile(NAME)
# No database takes them as text, and no pattern that is in the API's description can name them.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_id(text: str) -> bool:
    """Whether something may be called by this."""
    return _ID.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a column of text may hold this."""
    return _NAME.fullmatch(text) is not None and not _SURROGATE.search(text)
