"""The OpenAPI document names the wire formats of the registry."""

from __future__ import annotations

import json
from typing import Any

from foldline.engine.formats import DEFAULT, FORMATS
from tools.openapi import description


def test_the_document_names_the_formats_of_the_registry() -> None:
    document: dict[str, Any] = json.loads(description())
    parameters = document["paths"]["/sessions/{session_id}/context"]["get"]["parameters"]
    (schema,) = (parameter["schema"] for parameter in parameters if parameter["name"] == "format")
    assert (schema["enum"], schema["default"]) == ([*FORMATS], DEFAULT)
    for body in ("AppendBody", "StatelessCompactBody"):
        text = document["components"]["schemas"][body]["properties"]["format"]["description"]
        assert [name for name in FORMATS if name in text] == [*FORMATS]
