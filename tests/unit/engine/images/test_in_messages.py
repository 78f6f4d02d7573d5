import pytest

from foldline.engine.formats import FORMATS, rules
from foldline.engine.images.in_messages import MAX_IMAGE_BYTES, MAX_IMAGES, surplus_images, without_images
from foldline.engine.messages import Image, Message, Text, ToolResult

LINK = "https://example.org/crease.png"


def image(size: int) -> Image:
    return Image("image/png", "A" * size)


def shown(*parts: Text | Image) -> Message:
    return Message("user", parts)


def result(*content: Text | Image) -> Message:
    return Message("tool", (ToolResult("c", content),))


def test_the_newest_images_stay() -> None:
    messages = [shown(Text("one"), image(10), image(10)), result(Text("two"), image(10)), shown(image(10))]
    assert surplus_images(messages, 100, 2) == [(0, 1), (0, 2)]
    assert surplus_images(messages, 30, 9) == [(0, 1)]
    assert surplus_images(messages, 40, 4) == []


def test_none_older_stays_once_one_is_too_large() -> None:
    assert surplus_images([shown(image(1)), shown(image(60)), shown(image(50))], 100, 9) == [(0, 0), (1, 0)]


def test_no_image_stays_where_none_may() -> None:
    assert surplus_images([shown(image(1))], 100, 0) == [(0, 0)]
    assert surplus_images([shown(image(101))], 100, 1) == [(0, 0)]


def test_an_image_behind_a_link_counts_and_has_no_bytes() -> None:
    messages = [shown(Image(url=LINK)), shown(Image(url=LINK))]
    assert surplus_images(messages, 0, 1) == [(0, 0)]


def test_without_a_limit_all_images_stay() -> None:
    messages = [shown(image(1_000))] * (MAX_IMAGES + 1)
    assert surplus_images(messages, None, None) == []
    assert surplus_images(messages) == [(0, 0)]
    assert surplus_images([shown(image(MAX_IMAGE_BYTES // 2))] * 3) == [(0, 0)]


def test_a_text_says_what_was_left_out() -> None:
    messages = [shown(Text("one"), image(400), Image(url=LINK)), result(image(8), image(8), Text("two"))]
    first, second = without_images(messages, [(0, 1), (0, 2), (1, 0)])
    assert first.text == (
        "one\n[An older image is left out here: image/png, 300 bytes.]\n"
        "[An older image is left out here: behind a link.]"
    )
    assert second.result is not None
    assert second.result.content == (
        Text("[An older image is left out here: image/png, 6 bytes.]"),
        image(8),
        Text("two"),
    )


def test_messages_that_lose_nothing_stay_the_same_objects() -> None:
    messages = [shown(image(1)), shown(image(1))]
    kept = without_images(messages, [(0, 0)])
    assert kept[1] is messages[1]
    assert without_images(messages, []) == messages


@pytest.mark.parametrize("format_name", FORMATS)
def test_what_is_left_renders_in_every_format(format_name: str) -> None:
    wire = FORMATS["anthropic"].parse(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "shot", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c",
                        "content": [
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
                        ],
                    }
                ],
            },
        ]
    )
    left = without_images(wire, surplus_images(wire, max_count=0))
    rendered = FORMATS[format_name].render(left, None).messages
    assert rules.check(format_name, rendered, None) == []
    assert "AAAA" not in str(rendered)
    assert str(rendered).count("left out here: image/png, 3 bytes") == 2
