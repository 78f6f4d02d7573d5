"""The words by which a line is recognized: a rule, a decision, something open, a failure, chatter.

English is matched in lower case, which is several times faster than ignoring case; Chinese, Japanese and Korean have no
word boundaries to look for. No pattern repeats without a bound.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final


class Cue:
    """Whether a line has one of some words; its patterns are compiled for the first line."""

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

# Preferences: weaker than a rule, stronger than chatter.
PREFERENCE: Final = Cue(
    _words(
        """
        only
        should
        prefer
        please
        want
        need
        would like
        rather
        avoid
        use
        budget
        ok(?:ay)? with
        """
    ),
    "希望|想|要|最好|尽量|应该|以内|以上|以下|左右|预算|喜欢|别|たい|べき|ほしい|ください|주세요|싶",
)

# A user agrees, refuses or chooses.
CHOICE: Final = Cue(
    r"^(?:yes|yeah|yep|no|nope|sure|agreed|correct|exactly|right|go (?:with|ahead|for)|let'?s"
    r"|i(?:'ll| will) (?:take|go)|that's it|sounds good|confirm(?:ed)?|perfect|do it)\b",
    "^(?:好|行|可以|是的|对|没错|不|那就|就|嗯|同意|确认|はい|いいえ|네|아니)",
)

# The assistant settles something or reports a finding.
DECISION: Final = Cue(
    _words(
        """
        decid(?:ed|e)
        chose
        chosen
        because
        instead
        root cause
        the (?:issue|problem|bug|fix|cause|reason|solution|answer) (?:is|was)
        turns out
        fixed
        solved
        resolved
        done
        created
        added
        removed
        renamed
        replaced
        updated
        changed
        implemented
        now (?:uses?|has|have|works?|returns?|passes)
        confirmed
        booked
        cancell?ed
        refunded
        approach
        we(?:'ll| will) (?:use|go|keep)
        passed
        passing
        success(?:ful(?:ly)?)?
        found
        pushed
        committed
        merged
        released
        """
    ),
    "决定|选择|选定|因为|所以|改为|改成|原因|问题是|已经|已为|完成|修复|建议|推荐|确认|预订|预定|決定|完了|修正|결정|완료|수정",
)

# Something is still to come.
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

# The assistant says what it is about to look at; the tool call says the same.
NARRATION: Final = Cue(
    r"^(?:now,? let me|let's (?:check|look|see|read|try|run)|i'm going to|i need to (?:check|look|read|see)|now i"
    r"|i'll (?:check|look|read|start|search|explore|run|now|first)|first,? (?:let|i)|looking (?:at|into)"
    r"|now (?:update|add|let)|checking)"
    r"|\blet me (?:check|look|see|read|try|run|search|find|also|first|now|verify|investigate)\b",
    "^(?:让我|我来看|我先|我看看|確認し|まず|먼저)",
)

# Politeness and words of going on, which carry nothing.
CHATTER: Final = Cue(
    r"^\W{0,8}(?:continue|go on|ok(?:ay)?|thx|hi|hello|hey|yes|no|cool|great|nice|perfect|please|sleep|bye|good(?:bye)?"
    r"|sure|/\w{0,32}|wtf|lol)\W{0,8}$"
    r"|^\W{0,8}(?:(?:ok(?:ay)?|great|perfect|no|yes|that's all|goodbye)\W{1,8})?(?:many )?thank(?:s| you)\b.{0,80}$"
    r"|^(?:if you (?:need|have) any|feel free|is there anything else|have a (?:nice|great|good|safe)|you're welcome"
    r"|i can help you with that|\[request interrupted|caveat: )",
    r"^\W{0,8}(?:(?:继续|好的?|再见|你好|您好|嗯|哦|不客气|别客气|不用谢|没关系|没事|拜拜|祝您?你?.{1,12})\W{0,8}){1,3}$"
    r"|^\W{0,8}(?:好的?|行|嗯|可以|那)?\W{0,8}(?:非常|多|太|真的?)?感?谢.{0,24}$",
)

# Output that says something went wrong; it stands at the beginning of a line.
FAILURE: Final = re.compile(
    r"^[ \t>|E]{0,8}(?:error\b|fatal\b|traceback|panic|exception\b|fail(?:ed|ure)?\b|npm err|uncaught|unhandled"
    r"|cannot |could not |can't |unable to |permission denied|command not found|no such file"
    r"|segmentation fault|killed\b|[\w.:/$-]{1,80}(?:error|exception)\b\s?[:(]"
    r"|[\w./$-]{1,120}(?::\d{1,7}|\(\d{1,7},\d{1,7}\)){1,3}:? ?-? ?error\b"
    r"|[\w./$-]{1,80}: (?:error|fatal|command not found|no such file|permission denied|cannot )"
    r"|错误|失败|異常|エラー|오류)",
    re.IGNORECASE | re.MULTILINE,
)
# `0 failed` is a success; other counts are not.
FAILURE_COUNT: Final = re.compile(
    r"\b[1-9]\d{0,6} (?:failed|failures?|errors?)\b|exit(?:ed)?(?: with)?(?: code| status)?:? ?[1-9]\d{0,2}\b"
    r"|returned non-zero|\bFAILED\b"
)

# Names and numbers: what a successor cannot guess.
SPECIFIC: Final = re.compile(r"\d[\w.,:/%-]{0,40}|`[^`\n]{1,80}`|\w[/_.@]\w|\"[^\"\n]{2,60}\"")
CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
