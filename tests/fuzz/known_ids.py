"""Ids of sessions and entries that exist in a service under test."""

from __future__ import annotations

from typing import Final

SESSIONS: Final = tuple(f"known-{number}" for number in range(4))
KNOWN: Final = {
    "session_id": SESSIONS,
    "entry_id": ("e0-1", "e0-2", "e0-4"),
    "compaction_id": ("e0-5", "e0-6"),
    "item_id": ("e0-1.1",),
}
