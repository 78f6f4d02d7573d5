"""Images are left out oldest first, no more than need be, and what the view then takes is counted exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.images.in_messages import Images, ImageSize, image_sizes
from foldline.engine.messages import Image, Message, Text, ToolCall, ToolResult
from foldline.engine.models.limits import ANY, ImageLimits
from foldline.engine.planning.image_limits import images_shown, images_too_large, omitting_images
from foldline.engine.tokens.counter import count_messages
from foldline.engine.view import make_view
from foldline.engine.wording import LARGE_IMAGE
from tests.support.conversations import Conversation, assistant
from tests.support.pictures import picture

images = st.lists(st.builds("A".__mul__, st.integers(0, 50)) | st.builds(picture, st.integers(1, 60)), max_size=4)
histories = st.lists(st.tuples(st.booleans(), images), max_size=12)
limits = st.builds(
    ImageLimits,
    count=st.integers(0, 12),
    bytes=st.integers(0, 300),
    image_bytes=st.sampled_from([40, ANY]),
    side=st.sampled_from([50, ANY]),
    many=st.integers(0, 12),
    side_of_many=st.integers(1, 50),
)


def _talk(history: list[tuple[bool, list[str]]]) -> Conversation:
    messages: list[Message] = []
    for number, (is_result, datas) in enumerate(history):
        pictures = (Image("image/png", data) for data in datas)
        content: tuple[Text | Image, ...] = (Text(f"look {number}"), *pictures)
        if is_result:
            messages += [assistant("", ToolCall(f"c{number}", "look", "{}"))]
            messages += [Message("tool", (ToolResult(f"c{number}", content),))]
        else:
            messages.append(Message("user", content))
    return Conversation.of(messages)


@given(histories, limits, st.sampled_from([0.5, 1.0]))
def test_the_oldest_images_go_first_and_the_view_is_counted_exactly(
    history: list[tuple[bool, list[str]]], most: ImageLimits, share: float
) -> None:
    talk = _talk(history)
    last_user = max((number for number, (is_result, _) in enumerate(history) if not is_result), default=-1)
    sizes = [image_sizes(Message("user", tuple(Image("", data) for data in datas))) for _, datas in history]
    numbered = [
        (number, size)
        for number, found in enumerate(sizes)
        for index, size in enumerate(found)
        if index not in most.too_large(found)
    ]
    outline = talk.outline.edited(omitting_images(talk.outline, most, share))
    view = make_view(outline, talk.messages, {}, image_limits=most)
    shown = [size for message in view for size in image_sizes(message)]
    assert images_shown(outline, most) == Images().adding(shown)
    assert sum(str(message).count(LARGE_IMAGE) for message in view) == images_too_large(outline, most)
    assert outline.tokens == count_messages(make_view(outline, talk.messages, {}))
    may_go = [at for at, (number, _) in enumerate(numbered) if number != last_user]
    gone = may_go[: len(numbered) - len(shown)]
    assert shown == [size for at, (_, size) in enumerate(numbered) if at not in gone]
    if gone:
        with_one_more = shown_without(numbered, gone[:-1])
        assert not most.share(share).takes(with_one_more)
    if len(gone) < len(may_go):
        is_newest_alone = len(gone) == len(may_go) - 1 and may_go[-1] == len(numbered) - 1
        assert (most if is_newest_alone else most.share(share)).takes(Images().adding(shown))


def shown_without(numbered: list[tuple[int, ImageSize]], gone: list[int]) -> Images:
    """The images without these."""
    return Images().adding(size for at, (_, size) in enumerate(numbered) if at not in gone)


@given(st.lists(images, max_size=8), limits.filter(lambda most: most.count > 0))
def test_sides_alone_never_keep_a_view_from_the_provider(history: list[list[str]], most: ImageLimits) -> None:
    talk = _talk([(True, []), *((at % 3 > 0, datas) for at, datas in enumerate(history))])
    sides_alone = ImageLimits(side=most.side, many=most.many, side_of_many=most.side_of_many)
    outline = talk.outline.edited(omitting_images(talk.outline, sides_alone, 0.5))
    assert sides_alone.takes(images_shown(outline, sides_alone))
