"""What answers the vectors, by system and operation; a module for each idea of the engine."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from tests.parity.operations import codebuddy, conversations, counting, files, outputs, overflow, pi, plans, windows
from tests.parity.vectors import Operations

OPERATIONS: Final[Operations] = MappingProxyType(
    {
        **codebuddy.OPERATIONS,
        **conversations.OPERATIONS,
        **counting.OPERATIONS,
        **windows.OPERATIONS,
        **outputs.OPERATIONS,
        **files.OPERATIONS,
        **overflow.OPERATIONS,
        **plans.OPERATIONS,
        **pi.OPERATIONS,
    }
)
