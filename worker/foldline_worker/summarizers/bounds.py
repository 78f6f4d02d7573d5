"""How much one call of a model takes and gives: from what is known of it, and from what its refusals say."""

from __future__ import annotations

from threading import Lock
from typing import Final, NamedTuple

from foldline.engine.summaries.prompt import SMALLEST_INPUT_TOKENS
from foldline_worker.summarizers.calls.endpoint import AnswerTooLong, TooLong

# An answer takes no more than this share of a window, so that prompts have room.
ANSWER_SHARE: Final = 4
# Foldline counts other tokens than most models: a prompt in code or in Chinese may have a third more.
MARGIN: Final = 0.9
SMALLEST_ANSWER: Final = 64
SMALLEST_WINDOW: Final = 2 * SMALLEST_INPUT_TOKENS


class CallSize(NamedTuple):
    """The most tokens of a prompt, and of its answer."""

    prompt: int
    answer: int


class Bounds:
    """The bounds of a model's calls: the tokens of a `prompt`, of prompt and answer together, and of an `answer`.

    What a refusal says is learned for all later calls; threads may share it. A refusal that names no figure lowers the
    bound that it is about by two fifths, so that the same call is not repeated for long.
    """

    def __init__(self, prompt: int, window: int | None = None, answer: int | None = None) -> None:
        self._prompt = prompt
        self._window = window
        self._answer = answer
        self._lock = Lock()

    def size(self, max_tokens: int) -> CallSize:
        """The size of a call for a text of at most `max_tokens`."""
        window, most = self._window, self._answer
        answer = min(max_tokens, most or max_tokens)
        if window is None:
            return CallSize(self._prompt, answer)
        answer = max(1, min(answer, window // ANSWER_SHARE))
        room = int(window * MARGIN) - answer
        return CallSize(max(SMALLEST_INPUT_TOKENS, min(self._prompt, room)), answer)

    def takes(self, prompt: int, answer: int) -> bool:
        """Whether one call takes a prompt of so many tokens that cannot be cut."""
        return prompt <= (self._prompt if self._window is None else int(self._window * MARGIN) - answer)

    def learn(self, refusal: TooLong | AnswerTooLong, sent: int, asked: int) -> bool:
        """Learn from a refusal of a prompt of `sent` tokens with an answer of `asked`; False if nothing is left to try.

        `sent` is Foldline's count.
        """
        with self._lock:
            if isinstance(refusal, AnswerTooLong):
                # A limit that was kept to already is not the one meant.
                limit = refusal.limit_tokens if refusal.limit_tokens < asked else asked // 2
                if limit >= SMALLEST_ANSWER:
                    self._answer = min(limit, self._answer or limit)
                return limit >= SMALLEST_ANSWER
            window = self._window or sent + asked
            limit = refusal.limit_tokens or window
            # In Foldline's tokens, if the endpoint counts more.
            limit = limit * sent // max(sent, refusal.actual_tokens or sent)
            if limit < min(window, sent + asked):
                window = limit
            # A larger call was on its way already when another's refusal was learned: its own says nothing new.
            elif sent + asked <= window:
                window = window * 3 // 5
            if window >= SMALLEST_WINDOW:
                self._window = window
            return window >= SMALLEST_WINDOW
