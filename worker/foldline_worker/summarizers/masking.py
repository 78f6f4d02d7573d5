"""Masks secrets in the input of a summarizer that calls a model, each with a placeholder.

The originals are not changed. `redact-secret` and `secret_patterns` know what secrets look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

import redact_secret

from foldline.engine.arguments import json_object, json_text
from foldline.engine.ledger.items import ItemAt
from foldline.engine.messages import Image, Message, Other, Part, Text, Thinking, ToolCall, ToolResult
from foldline.engine.summaries.prompt import SummaryInput
from foldline_worker.summarizers.secret_patterns import COMPUTED, EMPTY, PATTERNS, TOKENS, SecretPattern

# Clearer words for some of the library's kinds; the others are used as they are, with spaces.
_KINDS: Final = {
    "authorization_credential": "authorization",
    "connection_string_password": "url credential",
    "contextual_secret": "credential",
    "vendor_prefixed_credential": "provider api key",
}
# For the library, a key that was cut short ends at the end of the next one, so its private keys are not used.
_PRIVATE_KEY: Final = "private_key"
_PLACEHOLDER: Final = re.compile(r"\[secret removed: (?P<kind>[a-z0-9 ]{1,64})\]")
# The API bounds texts already; a limit here would only make summaries fail.
_LIMITS: Final = redact_secret.WholeInputLimits(max_input_bytes=1 << 32, max_findings=1 << 24)
_ESCAPE: Final = re.compile(r"\\[nrt\"]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MOST_HEADS: Final = 100
# With a secret masked, the text beside it may match as one. Two passes are enough, except for hostile text.
_MOST_PASSES: Final = 5
# From this length on a word may be a token, if it has a digit, and from that length on without one.
_SHORTEST: Final = 16
_LONG: Final = 32
_DIGIT: Final = re.compile("[0-9]")
# Kinds that a name marks, rather than the form of the secret.
_NAMED_KINDS: Final = {"authorization", "credential"}
# A name such as `password` marks its value as a secret, but not a value longer than this.
_LONGEST_NAMED: Final = 512


class _Span(NamedTuple):
    """A secret of this kind, from character `start` up to `end`."""

    start: int
    end: int
    kind: str


def masked(request: SummaryInput) -> SummaryInput:
    """The summarizer's input with all secrets masked, in messages, earlier summaries and instructions."""
    return replace(
        request,
        previous=tuple(map(mask, request.previous)),
        messages=tuple(map(_masked_message, request.messages)),
        instructions=request.instructions and mask(request.instructions),
        turn_prefix=tuple(map(_masked_message, request.turn_prefix)),
        ledger=_masked_items(request.ledger),
        turn_ledger=_masked_items(request.turn_ledger),
    )


def _masked_items(items: Sequence[ItemAt] | None) -> tuple[ItemAt, ...] | None:
    return None if items is None else tuple((place, item._replace(text=mask(item.text))) for place, item in items)


def mask(text: str) -> str:
    """The text with `[secret removed: KIND]` for each secret; masking again changes nothing."""
    for _ in range(_MOST_PASSES):
        before, text = text, _masked_once(text)
        if text == before:
            break
    return text


def mask_arguments(arguments: str) -> str:
    """A tool call's arguments with secrets masked; a JSON object stays one, and its names mark values as secrets."""
    value = json_object(arguments)
    if value is None:
        return mask(arguments)
    # One search over everything is much faster than one for each string, and mostly finds nothing. The text itself is
    # searched too: of two members with the same name, the parsed value has only the last.
    whole = "\n".join((arguments, *_strings(value)))
    if _masked_once(whole) == whole:
        return arguments
    without = json_text(_masked_value(value))
    return _masked_across(without) if without else mask(arguments)


def _masked_across(arguments: str) -> str:
    """The same object without secrets that two members reveal together: `{"name": "TOKEN", "value": "…"}`."""
    without = mask(arguments)
    return arguments if json_object(without) is None else without


def _masked_once(text: str) -> str:
    pieces: list[str] = []
    position = 0
    found = (span for span in chain(_known(text), _matched(text)) if not _says_nothing(text, span))
    for start, end, kind in _merged(chain(_placeholders(text), found)):
        pieces += text[position:start], f"[secret removed: {kind}]"
        position = end
    return "".join((*pieces, text[position:])) if pieces else text


def _says_nothing(text: str, span: _Span) -> bool:
    """Whether a placeholder, or what code computes, stands where a secret would."""
    if span.end - span.start > _LONGEST_NAMED:
        return False
    computed = COMPUTED.match(text, span.start) if span.kind in _NAMED_KINDS else None
    return bool(EMPTY.fullmatch(text, span.start, span.end) or (computed and computed.end() >= span.end))


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
    """The spans in order, with overlapping ones joined; the first of them names the kind."""
    current: _Span | None = None
    for span in sorted(spans, key=lambda span: span.start):
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current = span
        else:
            current = current._replace(end=max(current.end, span.end))
    if current is not None:
        yield current


def _placeholders(text: str) -> Iterator[_Span]:
    """The placeholders in the text, which must not match as secrets of another kind."""
    return (_Span(*match.span(), match["kind"]) for match in _PLACEHOLDER.finditer(text))


def _known(text: str) -> Iterator[_Span]:
    # From each of these the library reads on to the end of the word; beyond a few, none begins a JSON web token.
    if text.count("eyJ") > _MOST_HEADS:
        text = text.replace("-eyJ", "-eyj").replace("_eyJ", "_eyj")
    try:
        findings = redact_secret.scan(text, limits=_LIMITS)
    except redact_secret.InvalidInputError:
        # The library refuses lone surrogates; replacing each by one character keeps the positions.
        findings = redact_secret.scan(_SURROGATE.sub("\ufffd", text), limits=_LIMITS)
    for found in findings:
        kind = _KINDS.get(found.type) or found.type.replace("_", " ")
        # In JSON, the library takes an escaped newline and the next line for a part of the value.
        escape = _ESCAPE.search(text, found.start, found.end) if kind in _NAMED_KINDS else None
        end = escape.start() if escape else found.end
        if found.type != _PRIVATE_KEY and end > found.start:
            yield _Span(found.start, end, kind)


def _matched(text: str) -> Iterator[_Span]:
    words = set(text.split())
    # Tokens are within long words with a digit, a small part of most texts.
    long_words = " ".join(
        word for word in words if len(word) >= _LONG or (len(word) >= _SHORTEST and _DIGIT.search(word))
    )
    tokens = (token for token in _possible(TOKENS, long_words) if token.is_in(long_words))
    for pattern in chain(_possible(PATTERNS, " ".join(words)), tokens):
        yield from (_Span(*span, pattern.kind) for span in pattern.spans(text))


def _possible(patterns: Mapping[str, Sequence[SecretPattern]], words: str) -> Iterable[SecretPattern]:
    """The patterns that may match in a text with these words."""
    folded = words.casefold()
    found = [some for word, some in patterns.items() if word in folded] if folded else []
    return dict.fromkeys(chain.from_iterable(found))


def _strings(value: Any, name: str = "") -> Iterator[str]:
    """All strings in a JSON value, each alone and with its name."""
    match value:
        case str():
            yield value
            yield _named(name, value)
        case list():
            for item in value:
                yield from _strings(item, name)
        case dict():
            for key, item in value.items():
                yield from _strings(item, key)


def _named(name: str, value: str) -> str:
    return f'"{name}": "{value}"' if len(value) <= _LONGEST_NAMED else name


def _masked_value(value: Any, name: str = "") -> Any:
    match value:
        case str():
            return _masked_named(name, value)
        case list():
            return [_masked_value(item, name) for item in value]
        case dict():
            return {mask(key): _masked_value(item, key) for key, item in value.items()}
    return value


def _masked_named(name: str, value: str) -> str:
    without = mask(value)
    if len(value) > _LONGEST_NAMED or _PLACEHOLDER.search(without):
        return without
    named = _named(name, value)
    found = chain(_known(named), _matched(named))
    kinds = (span.kind for span in found if span.end > len(name) + 2 and not _says_nothing(named, span))
    kind = next(kinds, None)
    return f"[secret removed: {kind}]" if kind else value


def _masked_message(message: Message) -> Message:
    parts = tuple(map(_masked_part, message.parts))
    return message if parts == message.parts else replace(message, parts=parts)


def _masked_part(part: Part) -> Part:
    match part:
        case Text():
            return _masked_text(part)
        case Thinking():
            return _masked_text(part)
        case ToolCall(arguments=arguments):
            without = mask_arguments(arguments)
            return part if without == arguments else replace(part, arguments=without, source=None)
        case ToolResult(content=content):
            kept = tuple(_masked_text(piece) if isinstance(piece, Text) else piece for piece in content)
            return part if kept == content else replace(part, content=kept, source=None)
        case Image() | Other():
            return part


_Said = TypeVar("_Said", Text, Thinking)


def _masked_text(part: _Said) -> _Said:
    # The part's original form, `source`, still has the secret.
    without = mask(part.text)
    return part if without == part.text else replace(part, text=without, source=None)
