"""The words that mark a line of a summary as a rule, an open matter or a failure.

English is matched in lower case, which is several times faster than ignoring case. Patterns for Chinese, Japanese and
Korean use no word boundaries. Every repetition in a pattern is bounded.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final


class Cue:
    """A test for one of some words in a line; its patterns are compiled at the first call."""

    def __init__(self, english: str, others: str | None = None) -> None:
        self._patterns = (english, others)

    def __call__(self, line: str) -> bool:
        """Whether the line has the cue."""
        if self._english.search(line.lower()):
            return True
        return self._others is not None and not line.isascii() and self._others.search(line) is not None

    @cached_property
    def _english(self) -> re.Pattern[str]:
        return re.compile(self._patterns[0])

    @cached_property
    def _others(self) -> re.Pattern[str] | None:
        return re.compile(self._patterns[1]) if self._patterns[1] else None


def _words(words: str) -> str:
    """A pattern for any of the expressions in `words`, one a line."""
    alternatives = "|".join(word for line in words.splitlines() if (word := line.strip()))
    return rf"\b(?:{alternatives})\b"


# What the user demands or forbids without leaving a choice. "I don't think" and "they don't know" forbid nothing.
RULE: Final = Cue(
    _words(
        """
        must
        never
        always
        no more than
        at (?:most|least)
        under no circumstances
        not allowed
        forbidden
        required?
        has to
        have to be
        ensure
        instead of
        without (?:any|touching|changing|using)
        may not
        should(?: not|n't)
        only (?:use|if|when|after|change|edit|touch|write|read|the|in)
        from now on
        make sure
        keep to
        limit(?:ed)? to
        """
    )
    + r"|\b(?:don'?t|do not)\b(?! (?:think|know|seem))"
    + "".join(rf"(?<!\b{who} {no})" for who in ("i", "we", "it", "they", "who") for no in ("don't", "dont", "do not"))
    + r"|^no\s",
    "必须|必需|务必|不要|不能|不许|不得|不准|不可以|禁止|严禁|请勿|切勿|千万|一定要|只能|只用|只许|总是|永远|绝不|从不|不超过"
    "|至少|最多|必ず|禁止|しないで|してはいけ|してはなら|絶対|なければなら|のみ使"
    "|반드시|절대|하지 ?마|금지|해야 ?(?:한다|합니다|해)|만 사용",
)

# Something is not finished, or an answer is needed.
OPEN: Final = Cue(
    _words(
        """
        todo
        fixme
        next steps?
        remain(?:s|ing)
        still (?:need|fail|to|have|missing|broken)s?
        not yet
        pending
        waiting for
        blocked
        left to do
        would you like
        do you want
        shall i
        should i
        could you (?:please )?(?:provide|confirm|tell)
        please (?:confirm|provide|let me know)
        let me know
        """
    )
    + r"|\?$",
    "\N{FULLWIDTH QUESTION MARK}$|待办|下一步|接下来|还需|尚未|还没|未完成|请提供|请确认|请问|需要您"
    "|次に|未完了|다음|아직",
)

# Output that says something went wrong, at the beginning of a line. A search finds a newline faster than `^`;
# `failure_at` puts one before the first line.
_FAILURE: Final = re.compile(
    r"\n[ \t>|E]{0,8}(?:error\b|fatal\b|traceback|panic|exception\b|fail(?:ed|ure)?\b|npm err|uncaught|unhandled"
    r"|cannot |could not |can't |unable to |permission denied|command not found|no such file"
    r"|segmentation fault|killed\b|[\w.:/$-]{1,80}(?:error|exception)\b\s?[:(]"
    r"|[\w./$-]{1,120}(?::\d{1,7}|\(\d{1,7},\d{1,7}\)){1,3}:? ?-? ?error\b"
    r"|[\w./$-]{1,80}: (?:error|fatal|command not found|no such file|permission denied|cannot )"
    r"|错误|失败|異常|エラー|오류)",
    re.IGNORECASE,
)
CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def failure_at(text: str) -> int | None:
    """The start of the first line of a text that reports a failure; None if no line does."""
    found = _FAILURE.search(f"\n{text}")
    return found.start() if found else None
