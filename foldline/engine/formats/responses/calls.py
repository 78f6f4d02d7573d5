"""The kinds of calls that a client answers, and the items of a call and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """A kind of call: the type of its item and of the item that answers it.

    `arguments` and `answer` are the keys of what they carry, the first that is there. `call_id` and `answers` are the
    keys of the call's id in the two. `tool` is the tool, where the item does not name it. A kind `is_open` if its
    answer may be any text; the others are made by the server as well, then without an id. A call `is_identified` if the
    API does not take it without the item's own `id`.
    """

    call: str
    output: str
    arguments: tuple[str, ...] = ("arguments",)
    answer: str = "output"
    tool: str | None = None
    call_id: str = "call_id"
    answers: tuple[str, ...] = ("call_id",)
    is_open: bool = False
    is_identified: bool = False

    def id_of(self, call: Mapping[str, Any]) -> Any:
        """The id of a call of this kind."""
        return call.get(self.call_id)

    def answers_key(self, output: Mapping[str, Any]) -> str:
        """The key under which an output of this kind has the id of its call."""
        return next((key for key in self.answers if output.get(key) is not None), self.answers[0])


FUNCTION: Final = Kind("function_call", "function_call_output", is_open=True)
KINDS: Final = (
    FUNCTION,
    Kind("custom_tool_call", "custom_tool_call_output", ("input",), is_open=True),
    Kind("shell_call", "shell_call_output", ("action",), tool="shell"),
    Kind(
        "local_shell_call",
        "local_shell_call_output",
        ("action",),
        tool="local_shell",
        answers=("call_id", "id"),
        is_identified=True,
    ),
    Kind("apply_patch_call", "apply_patch_call_output", ("operation",), tool="apply_patch"),
    Kind("computer_call", "computer_call_output", ("actions", "action"), tool="computer", is_identified=True),
    Kind("tool_search_call", "tool_search_output", answer="tools", tool="tool_search"),
    Kind(
        "mcp_approval_request",
        "mcp_approval_response",
        answer="approve",
        tool="mcp_approval_request",
        call_id="id",
        answers=("approval_request_id",),
        is_identified=True,
    ),
)

_BY_CALL: Final = {kind.call: kind for kind in KINDS}
_BY_OUTPUT: Final = {kind.output: kind for kind in KINDS}


def called(item: Mapping[str, Any]) -> Kind | None:
    """The kind of call that this item is; None if it is none that a client answers."""
    kind = _BY_CALL.get(item.get("type", ""))
    return kind if kind is not None and (kind.is_open or isinstance(kind.id_of(item), str)) else None


def answered(item: Mapping[str, Any]) -> Kind | None:
    """The kind of call that this item answers; None if it answers none."""
    kind = _BY_OUTPUT.get(item.get("type", ""))
    if kind is None or kind.is_open:
        return kind
    return kind if isinstance(item.get(kind.answers_key(item)), str) else None
