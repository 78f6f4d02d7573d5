"""A session of an agent that speaks OpenAI's Responses API, appended, compacted and read in every format."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.formats import FORMATS, rules
from tests.support.processes.api import Api
from tests.support.responses_items import missing_reasoning

Json = dict[str, Any]
WORDS = "so it goes on and on " * 12


def _turn(number: int) -> list[Json]:
    """A question, reasoning with two parallel calls, their outputs, a web search and an answer."""
    calls = [
        {
            "type": "function_call",
            "id": f"it_{number}a_{name}",
            "call_id": f"call_{number}{name}",
            "name": "look",
            "arguments": "{}",
            "namespace": "eyes",
        }
        for name in "xy"
    ]
    outputs = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": f"{number} {WORDS}"} for call in calls
    ]
    search = {"type": "web_search_call", "id": f"it_{number}b_1", "status": "completed", "action": {"query": "q"}}
    said = [{"type": "output_text", "text": f"answer {number}", "annotations": []}]
    return [
        {"role": "user", "content": f"{number} {WORDS}"},
        _reasoning(f"rs_{number}a"),
        *calls,
        *outputs,
        _reasoning(f"rs_{number}b"),
        search,
        {"type": "message", "id": f"it_{number}b_2", "role": "assistant", "status": "completed", "content": said},
    ]


def _reasoning(name: str) -> Json:
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": f"sealed {name}"}


def _say(api: Api, session: str, items: list[Json]) -> None:
    """Append the items as an agent does: the question, then each response of the model with what follows it."""
    for first, last in ((0, 1), (1, 4), (4, 6), (6, 9)):
        api.say(session, *items[first:last], format="responses")


def test_items_come_back_as_they_went_in(api: Api) -> None:
    session = api.session(context_window=100_000, system="Be brief.")
    turns = [_turn(number) for number in range(3)]
    for turn in turns:
        _say(api, session, turn)
    view = api.get(f"{session}/context?format=responses")
    assert view["messages"] == [item for turn in turns for item in turn]
    assert (view["system"], view["lossy"], view["reasoning"]["shown"]) == ("Be brief.", 0, 6)
    asked, calling, *_ = api.get(f"{session}/entries")["items"]
    assert (asked["message"], calling["message"]) == (turns[0][0], {"items": turns[0][1:4]})


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_compacted_session_is_valid_in_every_format(api: Api, format_name: str) -> None:
    session = api.session(context_window=6_000)
    for number in range(12):
        _say(api, session, _turn(number))
    api.post(f"{session}/compact", {}, 202)
    api.do_jobs()
    _say(api, session, _turn(99))
    view = api.get(f"{session}/context?format={format_name}")
    assert rules.check(format_name, view["messages"], view["system"]) == []
    assert api.get(f"{session}/compactions")["items"]
    assert "99 so it goes" in str(view["messages"])
    assert format_name != "responses" or missing_reasoning(view["messages"]) == []
