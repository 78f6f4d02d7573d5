"""Hooks of Schemathesis, which loads this module by itself: half of all paths name sessions and entries that exist."""

from __future__ import annotations

from typing import Any

import schemathesis

from foldline.engine.wire import dumps
from tests.fuzz.known_ids import KNOWN


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """The parameters of a path, half of the time with ids that exist; the same for the same parameters."""
    if not path_parameters or context.operation.method.upper() == "DELETE":
        return path_parameters
    number = sum(dumps(list(path_parameters.values())))
    if number % 2:
        return path_parameters
    return {
        name: KNOWN[name][number // 2 % len(KNOWN[name])] if name in KNOWN else value
        for name, value in path_parameters.items()
    }
