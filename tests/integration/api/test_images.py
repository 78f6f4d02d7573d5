"""Images in views: what a provider takes, the newest kept."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from foldline.engine.formats import rules
from foldline.engine.models.limits import limits_of
from foldline.engine.wire import dumps
from tests.support.pictures import HEADER_CHARS, picture
from tests.support.processes.api import Api, user

MODEL = "anthropic/claude-sonnet-4-5"
LIMITS = limits_of(MODEL)
Wire = dict[str, Any]


def screenshot(number: int, size: int, side: int = 1_000) -> Wire:
    data = picture(side, size, number)
    return {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": data}}


def steps(number: int, size: int, side: int = 1_000) -> list[Wire]:
    """A call for a screenshot, and its result."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "screenshot", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": [screenshot(number, size, side)]}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def numbers(view: Wire) -> list[int]:
    """The numbers of the screenshots in a view, oldest first."""
    blocks = [
        block for message in view["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    images = [part for block in blocks for part in block.get("content", ()) if isinstance(part, dict)]
    return [int(part["source"]["data"][HEADER_CHARS:][:8]) for part in images if part["type"] == "image"]


def assert_taken(view: Wire) -> None:
    """Whether the provider takes the view."""
    assert len(dumps(view["messages"])) <= LIMITS.request_bytes
    assert len(numbers(view)) <= LIMITS.images
    assert rules.check("anthropic", view["messages"], view["system"]) == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("images", "size"),
    [(250, 1_000), *(pytest.param(images, 2_000_000, marks=pytest.mark.thorough) for images in (40, 200))],
)
def test_every_view_is_within_the_providers_limits_and_has_the_newest(api: Api, images: int, size: int) -> None:
    session = api.session(model=MODEL, context_window=1_000_000)
    api.say(session, user("look at each page"))
    compactions = 0
    for number in range(images):
        answer = api.say(session, *steps(number, size), format="anthropic")
        compactions += answer["compaction"] is not None and "omit_images" in answer["compaction"]["stages_used"]
        assert answer["budget"]["fits"]
        if number % 10 == 9:
            view = api.get(f"{session}/context?format=anthropic")
            assert_taken(view)
            shown = numbers(view)
            assert shown[-5:] == list(range(number - 4, number + 1))
            assert (view["budget"]["images"], view["budget"]["image_bytes"]) == (len(shown), len(shown) * size)
    assert 0 < compactions <= images // 7


def test_images_come_back_with_an_undo_and_may_then_be_too_many(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    api.say(session, user("look"))
    made = None
    number = 0
    while made is None:
        number += 1
        made = api.say(session, *steps(number, 2_000_000), format="anthropic")["compaction"]
    assert api.client.post(f"{session}/compactions/{made['id']}/undo").status_code == 200
    refused = api.client.get(f"{session}/context?format=anthropic")
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/images-do-not-fit"
    assert refused.json()["images"] == number
    api.say(session, user("go on"))
    assert_taken(api.get(f"{session}/context?format=anthropic"))


def test_the_limits_are_those_of_the_model(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    api.say(session, user("look"))
    for number in range(30):
        api.say(session, *steps(number, 10_000), format="anthropic")
    assert len(numbers(api.get(f"{session}/context?format=anthropic"))) == 30
    assert api.client.get(f"{session}/context?model=bedrock/anthropic.claude-sonnet-4-5").status_code == 422
    api.client.patch(session, json={"model": "bedrock/anthropic.claude-sonnet-4-5"})
    assert numbers(api.get(f"{session}/context?format=anthropic")) == list(range(20, 30))


def test_an_image_that_is_too_large_by_itself_is_in_no_view(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    api.say(session, user("look"), *steps(1, 5_500_000), *steps(2, 100), format="anthropic")
    view = api.get(f"{session}/context?format=anthropic")
    assert (numbers(view), view["lossy"]) == ([2], 1)
    assert (view["budget"]["images"], view["budget"]["image_bytes"]) == (1, 100)
    assert api.get(session)["budget"]["images"] == 1
    assert numbers(api.get(f"{session}/context?format=anthropic&fit=none")) == [1, 2]
    assert api.client.patch(session, json={"model": "openai/gpt-4o"}).json()["budget"]["images"] == 2


def test_many_images_are_within_the_side_that_many_may_have(api: Api) -> None:
    session = api.session(model=MODEL, context_window=1_000_000)
    api.say(session, user("look at each page"))
    compactions = 0
    for number in range(60):
        side = 2_880 if number % 15 == 7 else 1_280
        answer = api.say(session, *steps(number, 1_000, side), format="anthropic")
        compactions += answer["compaction"] is not None
        view = api.get(f"{session}/context?format=anthropic")
        shown = numbers(view)
        assert len(shown) <= 20 or not any(shown_number % 15 == 7 for shown_number in shown)
        assert shown[-5:] == list(range(number + 1))[-5:]
        assert answer["budget"]["images"] == view["budget"]["images"] == len(shown)
    assert 0 < compactions <= 6


def test_an_image_with_too_long_a_side_is_in_no_view(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    api.say(session, user("look"), *steps(1, 100, 8_001), *steps(2, 100, 8_000), format="anthropic")
    view = api.get(f"{session}/context?format=anthropic")
    assert (numbers(view), view["lossy"], view["budget"]["images"]) == ([2], 1, 1)
    api.client.patch(session, json={"model": "openai/gpt-4o"})
    assert numbers(api.get(f"{session}/context?format=anthropic")) == [1, 2]


def test_an_image_with_a_broken_header_is_stored(api: Api) -> None:
    header = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (0xFFFF_FFFF).to_bytes(4) * 2
    data = b64encode(header + b"\0" * 64).decode()
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    session = api.session(model="openai/gpt-4o", context_window=200_000)
    api.say(session, {"role": "user", "content": [image]})
    assert api.get(f"{session}/context")["messages"] == [{"role": "user", "content": [image]}]


def test_of_many_images_in_the_last_user_message_those_with_too_long_a_side_are_left_out(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    pages = [screenshot(number, 100, 2_001 if number == 5 else 2_000) for number in range(30)]
    content = [{"type": "text", "text": "read these"}, *pages]
    api.say(session, *steps(99, 100, 5_000), {"role": "user", "content": content}, format="anthropic")
    view = api.get(f"{session}/context?format=anthropic")
    assert [part for part in view["messages"][-1]["content"] if part["type"] == "image"] == [
        page for number, page in enumerate(pages) if number != 5
    ]
    assert view["budget"]["images"] == 29


def test_sides_are_a_reason_to_refuse_a_view(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000, auto_compact=False)
    api.say(session, user("look"))
    for number in range(21):
        api.say(session, *steps(number, 100, 2_500), format="anthropic")
    refused = api.client.get(f"{session}/context?format=anthropic")
    assert refused.status_code == 422
    assert "no side of so many may have more than 2,000 pixels" in refused.json()["detail"]
    assert api.client.post(f"{session}/compact", json={"summarize": False}).status_code in {200, 202}
    asked = api.client.post(f"{session}/compact", json={"stages": ["truncate"], "summarize": False})
    assert asked.status_code in {200, 202}


def test_a_message_loses_its_images_and_keeps_its_short_arguments(api: Api) -> None:
    session = api.session(model="mistral/mistral-large-latest", context_window=100_000)
    drawing = {"type": "image", "media_type": "image/gif", "data": picture(100, 100, 1)}
    call = {"type": "tool_call", "id": "c", "name": "write", "arguments": '{"text": "' + "long " * 9_000 + '"}'}
    result = {"type": "tool_result", "call_id": "c", "content": [{"type": "text", "text": "done"}]}
    parts = ("user", [{"type": "text", "text": "draw"}]), ("assistant", [drawing, call]), ("tool", [result])
    api.say(session, *({"role": role, "parts": content} for role, content in parts), format="native")
    api.client.post(f"{session}/compact", json={"target_tokens": 4_000, "summarize": False})
    short = api.get(session)["budget"]["used"]
    assert short < 5_000
    for number in range(9):
        api.say(session, *steps(number, 100), format="anthropic")
    view = api.get(f"{session}/context?format=native")
    assert "write" in str(view)
    assert drawing["data"] not in str(view)
    assert "long " * 5_000 not in str(view)
    assert view["budget"]["used"] < short + 9 * 2_000


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}},
        "413 Request Entity Too Large",
        "messages.3.content.0.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        "Too many images in request",
    ],
)
def test_a_refusal_for_its_size_leaves_the_older_half_out(api: Api, error: Any) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    api.say(session, user("look"))
    version = [api.say(session, *steps(n, 50_000), format="anthropic")["version"] for n in range(8)][-1]
    answer = api.client.post(f"{session}/overflow", json={"version": version, "error": error}).json()
    assert answer["verdict"]["is_overflow"]
    assert answer["verdict"]["is_too_large"]
    assert numbers(api.get(f"{session}/context?format=anthropic")) == [4, 5, 6, 7]


def test_a_refusal_for_its_tokens_is_none_for_its_size(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    version = api.say(session, *(user("a long question " * 50) for _ in range(20)))["version"]
    body = {"version": version, "error": "prompt is too long: 2,000 tokens > 1,000 maximum"}
    verdict = api.client.post(f"{session}/overflow", json=body).json()["verdict"]
    assert (verdict["is_overflow"], verdict["is_too_large"]) == (True, False)


def test_the_images_of_the_last_user_message_stay(api: Api) -> None:
    session = api.session(model="mistral/mistral-large-latest", context_window=100_000)
    for number in range(4):
        api.say(session, *steps(number, 1_000), format="anthropic")
    question = [{"type": "text", "text": "compare these"}, *(screenshot(number, 1_000) for number in range(10, 15))]
    api.say(session, {"role": "user", "content": question}, format="anthropic")
    view = api.get(f"{session}/context?format=anthropic")
    assert view["messages"][-1]["content"] == question


def test_a_report_of_its_size_leaves_the_newest_image(api: Api) -> None:
    session = api.session(model=MODEL, context_window=200_000)
    for number, size in enumerate((1_000, 1_000, 1_000, 1_000_000)):
        api.say(session, *steps(number, size), format="anthropic")
        api.say(session, user("go on"))
    version = api.get(session)["version"]
    api.client.post(f"{session}/overflow", json={"version": version, "error": "413 Request Entity Too Large"})
    assert numbers(api.get(f"{session}/context?format=anthropic")) == [2, 3]


def test_an_image_that_is_too_large_does_not_stand_for_another(api: Api) -> None:
    session = api.session(model="mistral/mistral-large-latest", context_window=200_000)
    large = screenshot(1, 10_500_000)
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [large, screenshot(2, 100), screenshot(3, 100)]}
    api.say(session, user("look"), {"role": "assistant", "content": [call]}, format="anthropic")
    api.say(session, {"role": "user", "content": [result]}, format="anthropic")
    for number in range(4, 10):
        api.say(session, *steps(number, 100), format="anthropic")
    shown = numbers(api.get(f"{session}/context?format=anthropic"))
    assert shown == list(range(10 - len(shown), 10))
