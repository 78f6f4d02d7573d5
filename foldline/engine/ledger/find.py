"""Finds the items of one message. It reads each text once, and needs no other message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from foldline.engine import wording
from foldline.engine.ledger.calls import call_items, output_items, result_items, written_command
from foldline.engine.ledger.earlier import AROUND, earlier_items
from foldline.engine.ledger.items import ASIDE, LATER, MOST_ITEMS, WRITTEN_CALL, Item, ItemAt, ItemKind, Speaker
from foldline.engine.ledger.reading import cues
from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.languages import language_of
from foldline.engine.ledger.reading.rules import QUESTIONS, is_rule
from foldline.engine.ledger.reading.sentences import statements
from foldline.engine.ledger.reading.specifics import has_specifics
from foldline.engine.messages import Message, Other, Text, Thinking, provider_summary

# A sentence and its item take at most 2 kB.
_SENTENCES_KEPT: Final = 2048
THOUGHT_CHARS: Final = 4_000
THOUGHT_SENTENCES: Final = 40
# How the examples begin that some agents put before the task.
_DEMONSTRATION: Final = re.compile(r"\A\W{0,8}Here is a demonstration of how to", re.IGNORECASE)
_BARE_FRAME: Final = re.compile(rf"\s*(?:{wording.FRAME.pattern})\s*")
# How the summaries of Foldline, Claude Code, Codex, pi and Gemini CLI begin.
_TAGS: Final = "<(?:state_snapshot|compressed_chat_history|conversation_summary)>"
_SUMMARY_BEGIN: Final = re.compile(rf"\W{{0,8}}(?:{'|'.join((wording.FRAME.pattern, *AROUND, _TAGS))})")
# What stands before a late result that a view quotes; its end has the same number.
_LATE_BEGIN: Final = re.compile(r"\[Late result (\d{6}):\]")
_KANA_OR_HANGUL: Final = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
# An environment that answers in user messages prints its prompt at the end.
_OUTPUT_END: Final = re.compile(r"\n[^\n]{0,120}[$#%>]\s{0,8}\Z")
_OUTPUT_BEGIN: Final = re.compile(
    r"\A\s{0,8}(?:OBSERVATION:|Observation:|\[The command completed|EXECUTION RESULT"
    r"|<(?:output|stdout|returncode|function_results)>)"
)


def items_of(message: Message) -> list[Item]:
    """The items of a message, at most `MOST_ITEMS`, in the order in which it says them."""
    return list(islice(_items(message), MOST_ITEMS))


def found_in(previous: Sequence[str], messages: Sequence[Message], place: int = 0) -> tuple[ItemAt, ...]:
    """The items of these messages, the first of which has this place, and of earlier summaries, before them."""
    earlier = (
        (index, item) for index, text in enumerate(previous, place - len(previous)) for item in earlier_items(text)
    )
    said = ((index, item) for index, message in enumerate(messages, place) for item in items_of(message))
    return (*earlier, *said)


def _items(message: Message) -> Iterator[Item]:
    result = message.result
    if result is not None:
        yield from result_items(result)
        return
    for part in message.parts:
        if isinstance(part, Other):
            # Anthropic's summaries are texts, OpenAI's are sealed.
            yield from earlier_items(provider_summary(part))
    if not _DEMONSTRATION.match(message.text):
        yield from _by_assistant(message) if message.role == "assistant" else _by_user(message)


def _by_assistant(message: Message) -> Iterator[Item]:
    yield from _said_by_assistant(message.text, is_aside=bool(message.calls))
    for call in message.calls:
        yield from call_items(call)
    if not message.calls:
        yield from written_command(message.text)
    yield from _thoughts(message)


def _by_user(message: Message) -> Iterator[Item]:
    said: list[str] = []
    is_framed = False
    # An agent may send its summary beside what the user says next.
    for part in message.parts:
        if isinstance(part, Text):
            if is_framed or is_summary(part.text):
                yield from earlier_items(part.text)
            else:
                said.append(part.text)
            is_framed = _BARE_FRAME.fullmatch(part.text) is not None
    text = _without_late_results("\n".join(said))
    # Whether it is an output is known where the message before it is: see `assemble`.
    if is_output(text):
        yield from output_items(text, WRITTEN_CALL)
    yield from _said_by_user(text)


def _without_late_results(text: str) -> str:
    """What a user's message says beside the late results that a view quoted in it: those are not the user's words."""
    said: list[str] = []
    at = 0
    for begin in islice(_LATE_BEGIN.finditer(text), MOST_ITEMS):
        if begin.start() >= at:
            said.append(text[at : begin.start()])
            end = f"[/{begin[1]}]"
            found = text.find(end, begin.end())
            at = len(text) if found < 0 else found + len(end)
    return "".join((*said, text[at:])) if at else text


def _thoughts(message: Message) -> Iterator[Item]:
    """What the assistant settled in its reasoning, or else how that begins."""
    for part in message.parts:
        if isinstance(part, Thinking):
            said = list(islice(statements(part.text[:THOUGHT_CHARS]), THOUGHT_SENTENCES))
            language = language_of(part.text)
            settled = [sentence for sentence in said if language.marks("decides", sentence.lower())]
            for sentence in settled[-1:] or said[:1]:
                yield Item(ItemKind.SAID, sentence, Speaker.ASSISTANT, "", ASIDE)


def is_summary(text: str) -> bool:
    """Whether a user's message is a summary: Foldline's, or one that an agent has made of its own history."""
    return _SUMMARY_BEGIN.match(text) is not None


def is_output(text: str) -> bool:
    """Whether a user's message is what an environment printed, by its shape."""
    return _OUTPUT_BEGIN.match(text) is not None or _OUTPUT_END.search(text[-200:]) is not None


def _said_by_user(text: str) -> Iterator[Item]:
    language = language_of(text)
    for sentence in statements(text):
        yield _users(sentence, language)


# Agents send the same history with every call, and the same instructions in every session.
@lru_cache(maxsize=_SENTENCES_KEPT)
def _users(sentence: str, otherwise: Language) -> Item:
    """What a sentence of the user says; `otherwise` is its language if no other is likelier."""
    language = language_of(sentence, otherwise)
    lower = sentence.lower()
    kind, state = ItemKind.SAID, ""
    if is_rule(sentence, language) or _is_rule_elsewhere(sentence, lower):
        kind = ItemKind.RULE
    elif language.marks("asks_later", lower) and _asks(lower, language):
        kind, state = ItemKind.REQUEST, LATER
    elif language.marks("prefers", lower):
        kind = ItemKind.PREFERENCE
    elif language.marks("decides", lower):
        kind = ItemKind.DECISION
    elif _asks(lower, language):
        kind = ItemKind.REQUEST
    elif not has_specifics(sentence) and language.marks("chatter", lower):
        state = ASIDE
    return Item(kind, sentence, Speaker.USER, "", state)


def _is_rule_elsewhere(sentence: str, lower: str) -> bool:
    """Whether a sentence in Japanese or Korean has a word that only rules have."""
    return (
        not sentence.isascii()
        and not lower.endswith(QUESTIONS)
        and _KANA_OR_HANGUL.search(sentence) is not None
        and cues.RULE(sentence)
    )


def _asks(lower: str, language: Language) -> bool:
    asking = ("task_verb_first", "task_object", "polite_task")
    return lower.rstrip().endswith(QUESTIONS) or any(language.marks(name, lower) for name in asking)


def _said_by_assistant(text: str, *, is_aside: bool) -> Iterator[Item]:
    """What the assistant said that has specifics or settles something. Beside calls it mostly says what it will do."""
    language = language_of(text)
    for sentence in statements(text):
        lower = sentence.lower()
        settles = language.marks("decides", lower) or language.marks("resolves", lower)
        if not settles and language.marks("plan", lower):
            yield Item(ItemKind.SAID, sentence, Speaker.ASSISTANT, "", ASIDE if is_aside else LATER)
        elif settles or has_specifics(sentence):
            kind = ItemKind.DECISION if settles else ItemKind.SAID
            yield Item(kind, sentence, Speaker.ASSISTANT, "", ASIDE if is_aside and not settles else "")
        elif not is_aside:
            yield Item(ItemKind.SAID, sentence, Speaker.ASSISTANT, "", ASIDE)
