"""Images are left out oldest first, no more than need be, and what the view then takes is counted exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.images import Images, image_sizes
from foldline.engine.messages import Image, Message, Text, ToolCall, ToolResult
from foldline.engine.planning.image_limits import images_shown, omitting_images
from foldline.engine.tokens.counter import count_messages
from foldline.engine.view import make_view
from tests.support.conversations import Conversation, assistant

sizes = st.lists(st.integers(0, 50), max_size=4)
histories = st.lists(st.tuples(st.booleans(), sizes), max_size=12)
limits = st.builds(Images, st.integers(0, 12), st.integers(0, 300))


def _talk(history: list[tuple[bool, list[int]]]) -> Conversation:
    messages: list[Message] = []
    for number, (is_result, images) in enumerate(history):
        pictures = (Image("image/png", "A" * size) for size in images)
        content: tuple[Text | Image, ...] = (Text(f"look {number}"), *pictures)
        if is_result:
            messages += [assistant("", ToolCall(f"c{number}", "look", "{}"))]
            messages += [Message("tool", (ToolResult(f"c{number}", content),))]
        else:
            messages.append(Message("user", content))
    return Conversation.of(messages)


@given(histories, limits, limits)
def test_the_oldest_images_go_first_and_the_view_is_counted_exactly(
    history: list[tuple[bool, list[int]]], first: Images, second: Images
) -> None:
    talk = _talk(history)
    outline = talk.outline
    last_user = max((number for number, (is_result, _) in enumerate(history) if not is_result), default=-1)
    numbered = [(number, size) for number, (_, images) in enumerate(history) for size in images]
    for most in (first, second):
        outline = outline.edited(omitting_images(outline, most))
        view = make_view(outline, talk.messages, {})
        shown = [size for message in view for size in image_sizes(message)]
        assert outline.tokens == count_messages(view)
        assert images_shown(outline) == Images().adding(shown)
        stays = {at for at, (number, _) in enumerate(numbered) if number == last_user}
        stays |= {len(numbered) - 1} if numbered and numbered[-1][1] <= most.bytes else set()
        may_go = [at for at in range(len(numbered)) if at not in stays]
        gone = may_go[: len(numbered) - len(shown)]
        assert shown == [size for at, (_, size) in enumerate(numbered) if at not in gone]
        assert not images_shown(outline).exceeds(most) or len(gone) == len(may_go)
        numbered = [pair for at, pair in enumerate(numbered) if at not in gone]
