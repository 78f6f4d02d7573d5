"""OpenAI Responses items, in and out.

A request's list is flat: reasoning, texts and calls are items of their own. What one response of the model gave is one
message here, so that it is planned as one; `reading` groups, `writing` makes the list flat again.
"""

from __future__ import annotations

from typing import Final

from foldline.engine.formats.contract import Format, Signs
from foldline.engine.formats.responses.calls import KINDS
from foldline.engine.formats.responses.items import ENVELOPE, NAME
from foldline.engine.formats.responses.reading import parse
from foldline.engine.formats.responses.writing import ResponsesWriter

__all__ = ["FORMAT", "NAME"]

FORMAT: Final = Format(
    NAME,
    parse,
    ResponsesWriter,
    Signs(
        keys=(ENVELOPE, "encrypted_content"),
        types=(
            "reasoning",
            "compaction",
            "item_reference",
            *(name for kind in KINDS for name in (kind.call, kind.output)),
            "web_search_call",
            "file_search_call",
            "code_interpreter_call",
            "image_generation_call",
            "mcp_call",
            "mcp_list_tools",
        ),
        part_types=("input_text", "output_text", "input_image", "input_file"),
    ),
    has_turns=False,
)
