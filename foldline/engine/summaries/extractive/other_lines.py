"""The other lines of a conversation, for a budget that its turns do not fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline.engine.messages import Message, Text, Thinking, result_text
from foldline.engine.summaries.extractive.items import Item
from foldline.engine.summaries.extractive.lines import clean, lines, sentences
from foldline.engine.summaries.headings import Section


def other_lines(messages: Sequence[Message], chars: int) -> Iterator[Item]:
    """Other lines of what was said and returned, newest message first, up to about `chars` characters in all."""
    texts = [(order, text) for order in range(len(messages) - 1, -1, -1) for text in _texts(messages[order])]
    each = max(1_000, chars // max(1, len(texts)))
    for order, text in texts:
        worth = 0.02 + 0.06 * order / len(messages)
        for line in lines(clean(text[:each])):
            yield from (Item(Section.SAID, sentence, worth, order) for sentence in sentences(line))
        chars -= min(each, len(text))
        if chars <= 0:
            return


def _texts(message: Message) -> list[str]:
    texts = [part.text for part in message.parts if isinstance(part, Text | Thinking)]
    return [*texts, result_text(message.result)] if message.result else texts
