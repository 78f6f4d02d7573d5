"""The errors of the engine: `CompactionError` > `InvalidMessage`, `UnknownModel`, `InvalidPolicy`,
`FixedPartsDoNotFit`, `ViewDoesNotFit`, `ImagesDoNotFit`. Their facts are attributes; the message is for the reader.
"""

from __future__ import annotations

from collections.abc import Sequence


class CompactionError(Exception):
    """The root of the engine's errors."""


class InvalidMessage(CompactionError):
    """A wire message has the wrong shape; `path` points to the place, as in `messages[3].content[0].type`."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path
        self.detail = detail


class UnknownModel(CompactionError):
    """No context window is known for `model`, and none was given; `nearest` are names of known models like it."""

    def __init__(self, model: str, nearest: Sequence[str] = ()) -> None:
        like = f". Known models with a similar name: {', '.join(nearest)}" if nearest else ""
        super().__init__(
            f"no context window is known for the model {model!r}; "
            f"give `context_window`, or name it as provider/name, such as openai/gpt-4o{like}"
        )
        self.model = model
        self.nearest = list(nearest)


class InvalidPolicy(CompactionError):
    """The `field` of a policy has a value that cannot work."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class FixedPartsDoNotFit(CompactionError):
    """System prompt, tools, pins and the smallest summary exceed the target. Both figures are tokens."""

    def __init__(self, fixed_tokens: int, target_tokens: int) -> None:
        super().__init__(
            f"system prompt, tools, pins and the smallest summary take {fixed_tokens} tokens, "
            f"and the target is {target_tokens}; shorten them or use a larger context window"
        )
        self.fixed_tokens = fixed_tokens
        self.target_tokens = target_tokens


class ViewDoesNotFit(CompactionError):
    """The view exceeds the budget, and the rest of it may not be edited.

    Figures are tokens; `entries` are the largest entries in the view, by name and tokens.
    """

    def __init__(self, used_tokens: int, limit_tokens: int, entries: list[tuple[str, int]]) -> None:
        largest = ", ".join(f"{name} ({tokens})" for name, tokens in entries)
        super().__init__(
            f"the view takes {used_tokens} tokens of {limit_tokens}; largest entries: {largest or 'none'}. "
            "Compact, redo, shorten the last message, or use a larger context window"
        )
        self.used_tokens = used_tokens
        self.limit_tokens = limit_tokens
        self.entries = entries


class ImagesDoNotFit(CompactionError):
    """The view has more images, or larger ones, than the model's provider takes in one request.

    `shown` and `most` are the number of images, the bytes of their base64, and the pixels of the longest side of any of
    them.
    """

    def __init__(self, shown: tuple[int, int, int], most: tuple[int, int, int]) -> None:
        sides = f", and no side of so many may have more than {most[2]:,} pixels" if shown[2] > most[2] else ""
        super().__init__(
            f"the view has {shown[0]:,} images of {shown[1]:,} bytes; the provider takes {most[0]:,} of {most[1]:,} "
            f"bytes{sides}. Compact: the oldest images are left out first"
        )
        self.shown = shown
        self.most = most
