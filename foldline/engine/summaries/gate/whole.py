"""Checks of a story as a whole; the first that finds something refuses it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from foldline.engine.ledger.reading.lines import sentences
from foldline.engine.ledger.section_lines import CONTENTS
from foldline.engine.summaries.gate.source import Story, StorySource, folded, words_of
from foldline.engine.summaries.prompt import SummaryInput, own_text
from foldline.engine.tokens.counter import count_text

_COMPLETE: Final = frozenset({"stop", "end_turn", "eos", "stop_sequence"})
_CALLING: Final = frozenset({"tool_calls", "function_call", "tool_use"})
# If a server does not know a model's syntax for calls, the calls arrive as text.
_CALL_TEXT: Final = ("<tool_call", "<function_call", "<|tool_call", "[TOOL_CALLS]")
_UNFINISHED_REASONING: Final = ("<think>", "<thinking>")
# Of a readable text less is made of control characters, unassigned ones, and those that replace what was unreadable.
MOST_UNREADABLE: Final = 0.02
_UNREADABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
_MARKUP: Final = re.compile(
    r"""\A\s*(?:<(?:!doctype|html|\?xml|head|body|div|p|svg)\b|[\[{]\s*["'{\[]|```)""", re.IGNORECASE
)
_TAGS: Final = re.compile(r"</?(?:conversation|message|call|result|earlier-summary|instructions)\b")
_SPEAKER: Final = re.compile(
    r"^[\s*_\"]{0,4}(?:user|human|assistant|ai|agent|system)\W{0,3}:", re.IGNORECASE | re.MULTILINE
)
LEAST_SPEAKERS: Final = 4
_REFUSAL: Final = re.compile(
    r"\A\W*(?:(?:i'?m|i am) (?:really |very |so )?(?:sorry|unable|not able)|sorry,|i (?:can ?not|can'?t|won'?t)\b"
    r"|as an ai\b|unfortunately, i\b|(?:es )?tut mir leid|ich kann (?:das |dabei |hier )?nicht"
    r"|(?:je suis )?désolé|je ne peux pas|lo siento|no puedo\b|抱歉|对不起|很抱歉|我无法)",
    re.IGNORECASE,
)
# A sentence of the prompt that is shorter may stand in any text.
PHRASE_CHARS: Final = 40
# From so many equal lines on, a story repeats itself if they are so large a share of it.
LEAST_REPEATED: Final = 4
REPEATED_SHARE: Final = 0.4
# A story of fewer words says nothing, and of these so many are in what it is about.
LEAST_WORDS: Final = 4
LEAST_SHARED: Final = 0.4
_MARKS: Final = " \t#*_:.-0123456789)"


@dataclass(frozen=True, slots=True)
class Case:
    """A story with what it is compared with."""

    story: Story
    request: SummaryInput
    source: StorySource

    @property
    def text(self) -> str:
        """The story's text."""
        return self.story.text


def _calls_tools(case: Case) -> str | None:
    story = case.story
    calls = story.has_tool_calls or story.finish_reason in _CALLING or story.text.lstrip().startswith(_CALL_TEXT)
    return "it calls tools" if calls else None


def _breaks_off(case: Case) -> str | None:
    reason = case.story.finish_reason
    if reason in _COMPLETE and not case.text.lstrip().startswith(_UNFINISHED_REASONING):
        return None
    return f"it is incomplete (finish reason: {_reason(reason)})"


def _reason(finish_reason: str | None) -> str:
    return re.sub(r"\W+", "_", finish_reason[:32]) if finish_reason else "none"


def _is_unreadable(case: Case) -> str | None:
    found = len(_UNREADABLE.findall(case.text))
    return "it has unreadable characters" if found > max(2, MOST_UNREADABLE * len(case.text)) else None


def _is_empty(case: Case) -> str | None:
    return None if any(map(str.isalnum, case.text)) else "it is empty"


def _is_markup(case: Case) -> str | None:
    return "it is code or markup, no summary" if _MARKUP.match(case.text) else None


def _declines(case: Case) -> str | None:
    return "it declines to write a summary" if _REFUSAL.match(case.text) else None


def _repeats_the_prompt(case: Case) -> str | None:
    said = folded(case.text)
    phrases = (folded(text) for line in own_text(case.request).split("\n") for text in sentences(line))
    tags = {tag for tag in _TAGS.findall(case.text) if tag not in case.source.text}
    if tags or any(len(text) >= PHRASE_CHARS and text in said for text in phrases):
        return "it repeats what it was given"
    return None


def _goes_on(case: Case) -> str | None:
    return "it goes on with the conversation" if len(_SPEAKER.findall(case.text)) >= LEAST_SPEAKERS else None


def _repeats_itself(case: Case) -> str | None:
    lines = [line for line in map(str.strip, case.text.split("\n")) if line]
    _, most = Counter(lines).most_common(1)[0]
    return "it repeats itself" if most >= LEAST_REPEATED and most > REPEATED_SHARE * len(lines) else None


def _takes_too_much(case: Case) -> str | None:
    tokens, most = count_text(case.text), case.request.max_tokens
    return f"it takes {tokens} tokens of {most}" if tokens > most else None


def _has_no_heading(case: Case) -> str | None:
    if any(line.strip(_MARKS).casefold() in CONTENTS for line in case.text.split("\n")):
        return None
    return "it has none of the headings"


def says_little(text: str, source: StorySource) -> str | None:
    """The reason why a text says too little of its source; None if it says enough."""
    below = (line for line in text.split("\n") if line.strip(_MARKS).casefold() not in CONTENTS)
    said = words_of(folded("\n".join(below)))
    shared = sum(word in source.words for word in said)
    if shared < min(LEAST_WORDS, max(1, len(source.words) // 4)):
        return "it says next to nothing"
    return "it is about something else" if shared < LEAST_SHARED * len(said) else None


CHECKS: Final[Sequence[tuple[str, Callable[[Case], str | None]]]] = (
    ("call", _calls_tools),
    ("complete", _breaks_off),
    ("empty", _is_empty),
    ("readable", _is_unreadable),
    ("markup", _is_markup),
    ("refusal", _declines),
    ("echo", _repeats_the_prompt),
    ("dialogue", _goes_on),
    ("repetition", _repeats_itself),
    ("length", _takes_too_much),
)
OF_MODELS: Final = (("headings", _has_no_heading),)
