"""Hypothesis strategies for OpenAI Responses transcripts: flat lists of items, as a client keeps and sends them."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from tests.support.transcripts import PNG, TOOLS, Wire, arguments, json_values, texts, visible_texts

HOSTED: tuple[Wire, ...] = (
    {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "status": "completed", "queries": ["q"], "results": None},
    {"type": "code_interpreter_call", "status": "completed", "code": "1", "container_id": "c", "outputs": []},
    {"type": "image_generation_call", "status": "completed", "result": PNG},
    {"type": "mcp_call", "server_label": "s", "name": "n", "arguments": "{}", "output": "o"},
    {"type": "future_item", "payload": [1, {"a": None}]},
)
# What the API does not take without its id.
IDENTIFIED = {item["type"] for item in HOSTED} - {"future_item"} | {
    "local_shell_call",
    "computer_call",
    "mcp_approval_request",
}
COMPACTION = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}


def _input_text(text: str) -> Wire:
    return {"type": "input_text", "text": text}


images = st.sampled_from(
    (
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
        {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
        {"type": "input_image", "file_id": "file_1", "detail": "auto"},
    )
)
files = st.just({"type": "input_file", "file_id": "file_2"})
content_parts = visible_texts.map(_input_text) | images | files
user_items = st.builds(
    lambda content, kind: {**kind, "role": "user", "content": content},
    visible_texts | st.lists(content_parts, min_size=1, max_size=3),
    st.sampled_from(({}, {"type": "message"})),
)
plain_outputs = texts | st.lists(content_parts, max_size=2)


def _output_text(text: str) -> Wire:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


@st.composite
def _said(draw: st.DrawFn) -> Wire:
    parts = st.lists(visible_texts.map(_output_text) | st.just({"type": "refusal", "refusal": "no"}), max_size=3)
    return {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": draw(parts),
        "phase": "commentary",
    }


@st.composite
def _call(draw: st.DrawFn, serial: str) -> tuple[Wire, Wire]:
    """A call of any kind, and its answer."""
    call_id = f"call_{serial}"
    call: Wire
    output: Wire
    match draw(st.sampled_from(("function", "function", "custom", "shell", "local", "patch", "computer", "approval"))):
        case "function":
            call = {"type": "function_call", "name": draw(st.sampled_from(TOOLS)), "arguments": draw(arguments())}
            output = {"type": "function_call_output", "output": draw(plain_outputs)}
        case "custom":
            call = {"type": "custom_tool_call", "name": "code", "input": draw(texts)}
            output = {"type": "custom_tool_call_output", "output": draw(plain_outputs)}
        case "shell":
            call = {"type": "shell_call", "action": {"commands": [draw(visible_texts)]}}
            output = {"type": "shell_call_output", "output": [{"stdout": draw(texts), "stderr": "", "outcome": {}}]}
        case "local":
            action = {"type": "exec", "command": [draw(texts)], "env": {}}
            call = {"type": "local_shell_call", "action": action, "status": "completed"}
            output = {"type": "local_shell_call_output", "output": draw(texts)}
        case "patch":
            call = {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}}
            status = draw(st.sampled_from(("completed", "failed")))
            output = {"type": "apply_patch_call_output", "status": status, "output": draw(texts)}
        case "computer":
            call = {"type": "computer_call", "actions": [{"type": "screenshot"}], "pending_safety_checks": []}
            output = {
                "type": "computer_call_output",
                "output": {"type": "computer_screenshot", "image_url": "https://x"},
            }
        case _:
            call = {"type": "mcp_approval_request", "server_label": "s", "name": "n", "arguments": "{}"}
            output = {"type": "mcp_approval_response", "approve": True, "approval_request_id": f"mcpr_{serial}"}
            return {**call, "id": f"mcpr_{serial}"}, output
    return {**call, "call_id": call_id}, {**output, "call_id": call_id}


@st.composite
def _reasoning(draw: st.DrawFn) -> Wire:
    summary = [{"type": "summary_text", "text": text} for text in draw(st.lists(texts, max_size=2))]
    sealed: Wire = draw(st.sampled_from(({"encrypted_content": "gAAAAsealed"}, {"encrypted_content": None}, {})))
    return {"type": "reasoning", "summary": summary, **sealed}


@st.composite
def _step(draw: st.DrawFn, serial: str, *, reasons: bool, has_ids: bool) -> tuple[list[Wire], list[Wire]]:
    """Reasoning and what it led to, and the answers to the calls in it.

    The id of reasoning is `rs_N`, those of what it led to are `it_N_I`: `missing_reasoning` reads them.
    """
    led: list[Wire] = [draw(_reasoning())] if reasons else []
    outputs: list[Wire] = []
    for index in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(("call", "call", "said", "hosted")))
        if kind == "call":
            call, output = draw(_call(f"{serial}_{index}"))
            led.append(call)
            outputs.append(output)
        else:
            led.append(draw(_said()) if kind == "said" else dict(draw(st.sampled_from(HOSTED))))
    for index, item in enumerate(led):
        if item["type"] == "reasoning":
            item["id"] = f"rs_{serial}"
        elif has_ids or item["type"] in IDENTIFIED:
            item.setdefault("id", f"{'it' if reasons else 'plain'}_{serial}_{index}")
    return led, outputs


@st.composite
def _response(draw: st.DrawFn, serial: str, *, reasons: bool) -> list[Wire]:
    """What one response of the model gives, and the answers to its calls in any order."""
    has_ids = draw(st.booleans())
    steps = [
        draw(_step(f"{serial}{step}", reasons=reasons, has_ids=has_ids)) for step in range(draw(st.integers(1, 3)))
    ]
    outputs = [output for _, answers in steps for output in answers]
    return [*(item for led, _ in steps for item in led), *draw(st.permutations(outputs))]


@st.composite
def responses_wire_messages(draw: st.DrawFn) -> list[Wire]:
    """A well-formed Responses transcript: reasoning, parallel calls of all kinds, server tools, unknown keys."""
    reasons = draw(st.booleans())
    items: list[Wire] = [COMPACTION] if draw(st.integers(0, 5)) == 0 else []
    for turn in range(draw(st.integers(1, 3))):
        items.append(draw(user_items))
        if draw(st.integers(0, 4)) == 0:
            items.append({"role": draw(st.sampled_from(("developer", "system"))), "content": draw(visible_texts)})
        if draw(st.integers(0, 9)) == 0:
            items.append({"type": "configuration_update", "reasoning": {"effort": "low"}})
        for step in range(draw(st.integers(0, 2))):
            items += draw(_response(f"{turn}{step}", reasons=reasons))
    for place, item in enumerate(items):
        if draw(st.integers(0, 9)) == 0:
            items[place] = {**item, "x_trace": draw(json_values)}
    return items


def missing_reasoning(items: Iterable[Wire]) -> list[str]:
    """The ids of items that are there without the reasoning that led to them, as the API knows it; see above."""
    items = list(items)
    ids = {item.get("id") for item in items}
    own = [str(item["id"]) for item in items if str(item.get("id")).startswith("it_")]
    return [item_id for item_id in own if "rs_" + item_id.split("_")[1] not in ids]


def with_long_ids(items: list[Wire]) -> list[Wire]:
    """The items, with ids of calls that are longer than the API takes."""
    return [{**item, "call_id": f"{'call' * 20}{item['call_id']}"} if "call_id" in item else item for item in items]
