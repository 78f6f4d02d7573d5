from __future__ import annotations

from typing import Any

from foldline.engine.formats import FORMATS
from foldline.engine.tokens.counter import CALL, IMAGE, MESSAGE, TOOL, count_messages, count_text
from foldline.replay.view_count import messages_tokens, outside_tokens, view_tokens
from tests.support.recorded import anthropic_session, coding_session

JsonDict = dict[str, Any]
TOOLS = ({"name": "look"},)


def test_a_view_counts_its_messages_its_system_prompt_and_the_tools() -> None:
    messages = [{"role": "user", "content": "what is it?"}]
    own = MESSAGE + count_text("what is it?")
    system = MESSAGE + count_text("be brief")
    tools = TOOL + count_text('{"name":"look"}')

    in_front = [{"role": "system", "content": "be brief"}, *messages]
    assert view_tokens("openai", {"messages": in_front, "system": "be brief"}, TOOLS) == own + system + tools
    assert view_tokens("anthropic", {"messages": messages, "system": "be brief"}, TOOLS) == own + system + tools
    assert view_tokens("anthropic", {"messages": messages, "system": None}) == own
    assert outside_tokens("be brief", TOOLS) == system + tools


def test_every_kind_of_part_is_counted() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    call = {"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a stone"}, image]}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    other = {"type": "telepathy"}

    def one(part: JsonDict) -> int:
        return messages_tokens([{"role": "user", "content": [part]}]) - MESSAGE

    assert one(image) == one({"type": "image_url", "image_url": {"url": "data:"}}) == IMAGE
    assert one(call) == CALL + count_text("look") + count_text('{"at":1}')
    assert one(result) == count_text("a stone") + IMAGE
    assert one(thinking) == count_text("hm")
    assert one(other) == count_text('{"type":"telepathy"}')


def test_the_engine_never_counts_less_than_what_the_model_gets() -> None:
    for format_name, messages in (("openai", coding_session(1)), ("anthropic", anthropic_session(2))):
        plain = messages_tokens(messages)

        assert plain <= count_messages(FORMATS[format_name].parse(messages)) <= 1.2 * plain
