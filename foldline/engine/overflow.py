"""Reads a provider's error: whether the request was too long, whose wording it is, and the figures in it.

An error may also say that the provider refuses the reasoning in the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from foldline.engine import wire

# Keys of an error's JSON that hold its text, its name and its HTTP status, and how many levels deep they are read.
TEXT_KEYS: Final = ("message", "error")
NAME_KEYS: Final = ("code", "type")
STATUS_KEYS: Final = ("code", "status")
TOO_MANY_REQUESTS: Final = 429
LEVELS_MAX: Final = 3
# An error's text begins with its reason; what follows is a trace or an echo of the request.
LONGEST_CHARS: Final = 10_000
LONGEST_NAME_CHARS: Final = 100
# What a refusal of reasoning says of itself; after that, a text may quote the conversation.
REASON_CHARS: Final = 600
# A prompt of this share of the window left no room for an answer.
FULL_SHARE: Final = 0.99
ENDED: Final = frozenset({"stop", "end_turn"})
CUT_OFF: Final = frozenset({"length", "max_tokens"})

_SEPARATOR: Final = r"[,._'\u00a0\u2009\u202f]"
_NUMBER: Final = rf"(?<!\d)(?<!\d{_SEPARATOR})(?:\d{{1,3}}(?:{_SEPARATOR}\d{{3}}){{1,4}}|\d{{1,15}})(?!{_SEPARATOR}?\d)"
# The HTTP status 429, and not a number of tokens.
_BUSY: Final = r"429\b(?![.,]\d|\s*tokens?\s*>)"
_NOT_INPUT: Final = r"(?!\s*(?:output|completion|char|byte|[kmg]?i?b\b))"


def _compiled(*wordings: str) -> re.Pattern[str]:
    """A pattern for any of these wordings.

    A space matches any white space, `<n>` a number, and `<N>` a number of tokens that is not named as output.
    """
    number, tokens = f"({_NUMBER})", f"({_NUMBER}){_NOT_INPUT}"
    texts = (text.replace("<n>", number).replace("<N>", tokens).replace(" ", r"\s+") for text in wordings)
    return re.compile("|".join(texts), re.IGNORECASE)


# Refusals because too much was sent before or because the provider is busy. The same request may pass later.
THROTTLED: Final = _compiled(
    r"(?<![-/\w])rate[ _-]?limit",
    r"\brate[ _-]?limit(?:ed|[ _-](?:exceeded|reached|hit))\b",
    "too many requests",
    "throttl",
    r"\bquota (?:is |was |has been )?(?:exceeded|exhausted|reached|used up)",
    r"\b(?:exceed(?:s|ed)?|exhausted|reached) (?:your |the )?(?:current )?quota\b",
    r"(?<![a-z])per[ _-]?(?:second|min|minute|hour|day|month)(?![a-z])",
    r"\b[rt]p[dm]\b",
    "service unavailable",
    "overloaded",
    "wait before trying",
    rf"^(?:\W|error|status|code|http)*{_BUSY}",
    rf"(?:code|status|http(?:/[\d.]{{1,3}})?|error)\W{{1,4}}{_BUSY}",
    rf"(?<![\d.,]){_BUSY}\W{{1,9}}(?:resource[ _]?exhausted|too many)",
    rf"(?:resource[ _]?exhausted|too many tokens)\W{{1,9}}{_BUSY}",
)
# Other limits, links and headers that name a limit, and tokens that are not of a text. In a text with one of these,
# only a wording of overflow with its figures counts.
DOUBTFUL: Final = _compiled(
    r"\brate[ _-]?limit",
    r"\bquota\b",
    r"\b(?:security|api|access|auth|bearer) tokens?\b",
    r"\btokens? (?:registered|expired|revoked)\b",
    "tokens (?:that )?you requested",
)

# Wordings of overflow by provider. The first row that matches names the provider. Wordings of one provider alone come
# first, then those that others use too, and at last those of no provider.
WORDINGS: Final[tuple[tuple[str | None, re.Pattern[str]], ...]] = (
    ("openrouter", _compiled("this endpoint's maximum context length")),
    ("mistral", _compiled("too large for model with <n> maximum context length")),
    ("anthropic", _compiled("anthropic: input is too long", "input length and `?max_tokens`? exceed context limit")),
    ("xai", _compiled("maximum prompt length is <n>")),
    ("together", _compiled("longer than the model's context length")),
    ("llama.cpp", _compiled("exceeds? the available context size", "exceeds? context size")),
    ("lmstudio", _compiled("greater than the context length", "loaded with context length of only")),
    ("minimax", _compiled("context window exceeds limit")),
    ("kimi", _compiled("exceeded model token limit")),
    ("zai", _compiled("model_context_window_exceeded", "prompt exceeds max length")),
    ("ollama", _compiled("prompt too long; exceeded (?:max )?context length")),
    ("qwen", _compiled("range of input length should be")),
    ("cohere", _compiled("total number of tokens .{0,200}cannot exceed")),
    ("huggingface", _compiled("`?inputs`? must have less than <n> tokens", r"`max_new_tokens` must be <= <n>")),
    ("vllm", _compiled("maximum model length of <n>", "exceeds the max_model_len")),
    (
        "cerebras",
        _compiled(r"^\W*4(?:00|13)(?: status code)?\s*\(no body\)", "current length is <n> while limit is <n>"),
    ),
    (
        "openai",
        _compiled(
            "this model's maximum context length",
            "exceeds? (?:the )?(?:model's )?maximum context length",
            r"tokens\. however, (?:your messages|you requested)",
            "reduce the length of the messages",
            "please reduce the length",
            "exceeds? the context window",
            "input tokens exceed the configured limit",
        ),
    ),
    ("azure", _compiled("content_length_exceeded")),
    (
        "google",
        _compiled(
            "input token count.{0,200}exceeds the maximum",
            "exceeds the maximum number of tokens",
            "model only supports up to <n>",
            "content is too long",
            "request payload size exceeds",
            "input token limit",
        ),
    ),
    (
        "bedrock",
        _compiled(
            r"validationexception.{0,200}(?:input|prompt|request|messages?|conversation) (?:is|are|was|were) too long",
            "validationexception.{0,200}too many (?:input )?tokens",
            r"validationexception.{0,200}exceed\w*(?: [\w']+){0,3} (?:context|input|maximum number of tokens)\b",
            "validationexception.{0,200}<N> tokens, over the limit",
            "input is too long",
            "exceeds the model's maximum",
            "too many input tokens",
        ),
    ),
    ("mistral", _compiled("context length exceeded", "maximum number of tokens")),
    ("openrouter", _compiled("context_length_exceeded")),
    ("copilot", _compiled("exceeds the limit of <N>")),
    (
        "anthropic",
        _compiled(
            "prompt is too long",
            "request_too_large",
            "request exceeds the maximum (?:size|allowed number of bytes)",
            "too many tokens",
            "maximum context length",
        ),
    ),
    (
        None,
        _compiled(
            "prompt_too_long",
            "token limit exceeded",
            "max size: <n> tokens",
            "configured context size is <n>",
            "exceeds? (?:the )?(?:maximum |max )?(?:allowed )?(?:context|input|prompt) (?:length|size|limit|window)",
        ),
    ),
)
# Wordings of reasoning that is refused because something before it changed, or because another model wrote it, and of
# the provider's own summaries.
REASONING_WORDINGS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "anthropic",
        _compiled(
            r"invalid [`'\"]?signature[`'\"]? in [`'\"]?(?:redacted_)?thinking[`'\"]? block",
            "block is bound to a different",
            r"\bprefix_mismatch\b",
            r"thinking[`'\"]? blocks? .{0,100}cannot be modified",
            r"\bcompaction_(?:block_misplaced|signature_invalid|content_mismatch)\b",
            r"input tag [`'\"]compaction[`'\"] .{0,60}does not match any of the expected tags",
        ),
    ),
    (
        "openai",
        _compiled(
            "invalid_encrypted_content",
            "encrypted content .{0,200}could not be (?:verified|decrypted|parsed)",
            "provided without its required ['`\"]?reasoning['`\"]? item",
            "of type ['`\"]?reasoning['`\"]? was provided without its required following item",
        ),
    ),
    (
        "google",
        _compiled("(?:invalid|corrupted) thought[ _]?signature", "thought[ _]?signature is (?:not valid|invalid)"),
    ),
)
# Wordings of requests with too many bytes or images, whatever their tokens.
SIZE_WORDINGS: Final[tuple[tuple[str | None, re.Pattern[str]], ...]] = (
    (
        "anthropic",
        _compiled(
            "request_too_large",
            "request exceeds the maximum (?:size|allowed number of bytes)",
            r"image exceeds (?:the )?[\d.]+ ?mb(?: maximum| limit)?",
            "image dimensions exceed (?:the )?max(?:imum)? allowed size",
            "many-image requests",
        ),
    ),
    ("google", _compiled("request payload size exceeds")),
    (
        None,
        _compiled(
            r"413\W{1,9}(?:content|payload|request entity) too large",
            "request entity too large",
            r"request too large \(max",
            r"^\W*(?:error\W+)?payload too large",
            "too many images",
            "exceeds? the maximum (?:number|amount) of images",
            "number of images exceeds? the limit",
            r"at most <n> image(?:s|\(s\))? (?:per|in|may)",
        ),
    ),
)
# The providers with a wording of their own.
PROVIDERS: Final = frozenset(provider for provider, _ in WORDINGS if provider)

# "The tokens you requested" are output tokens.
_REQUESTED: Final = r"(?<!tokens\syou\s)requested"
# A figure next to the word "tokens".
_COUNTED: Final = _compiled(
    r"<n>\s*(?:(?:input|prompt|`?inputs`?) )?tokens?\b", r"\btokens?(?: count)?(?: of| is| was|:)? \(?<n>"
)
# Wordings that name the input tokens, in parts or as a whole, the more certain ones first.
_INPUT_PARTS: Final = _compiled(
    "<n> (?:tokens )?(?:in|from) (?:the (?:input )?messages|the functions|the tools|your prompt)", "<n> of [a-z]+ input"
)
_INPUT: Final = (
    _compiled(r"<n>\s*\+\s*[\d,]{1,20}\s*>"),
    _compiled("<n> (?:`inputs`|inputs?) tokens"),
    _compiled(r"<N>\s*tokens?\s*>", r"exceeded: <N>\s*>"),
    _compiled(rf"(?:resulted in|{_REQUESTED}:?|contains|has|have|received|given:) (?:about |at least )?<N>"),
    _compiled(r"token count(?: of| is| was|:)? \(?<N>"),
    _compiled(
        rf"(?:prompt|input|{_REQUESTED})(?: tokens?| length)?(?: of)? \(?(?:length )?<N>", r"request \(<N> tokens"
    ),
    _compiled("prompt is too long: <N>", "current length is <N>", "to keep the first <N> tokens"),
)
_OUTPUT: Final = (
    _compiled(r"\d\s*\+\s*<n>\s*>"),
    _compiled("<n> (?:tokens )?(?:in|for) the (?:completion|output)", "<n> (?:output|completion|`max_new_tokens`)"),
)
_LIMIT: Final = (
    _compiled(r"\d(?:\s*tokens?)?\s*>\s*<N>"),
    _compiled("model with <N> maximum", r"should be \[\d+,\s*<N>\]", "supports up to <N>", "cannot exceed <N>"),
    _compiled("(?:less than|must be <=) <N>", r"max_model_len \(?<N>", "max(?:imum)? (?:input tokens|size):? <N>"),
    _compiled(
        r"(?:context|max(?:imum)? (?:allowed )?(?:input|prompt)) (?:length|size|window)(?: is| of| only|:)* \(?<N>"
    ),
    _compiled(r"(?:model length|limit|maximum|number of tokens)(?: is| of| allowed|:)* \(?<N>"),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an error is an overflow, and its figures. These are tokens by the provider's count, None if not named.

    `provider` is the provider whose wording it is. `actual_tokens` are the input tokens, without the requested
    `output_tokens` if the text separates the two. `limit_tokens` is the model's limit for both together.
    `is_too_large`: the request has too many bytes or images, whatever its tokens. `is_reasoning_refused`: the error is
    no overflow, and the provider refuses the reasoning in the request.
    """

    is_overflow: bool
    provider: str | None = None
    actual_tokens: int | None = None
    limit_tokens: int | None = None
    output_tokens: int | None = None
    is_too_large: bool = False
    is_reasoning_refused: bool = False

    @property
    def input_limit_tokens(self) -> int | None:
        """The model's limit for input tokens."""
        return None if self.limit_tokens is None else self.limit_tokens - (self.output_tokens or 0)

    @property
    def retryable(self) -> bool:
        """Whether another view can help: a shorter one, unless the requested output takes the whole limit, or one
        without the refused reasoning.
        """
        if self.is_reasoning_refused:
            return True
        return self.is_overflow and (self.input_limit_tokens is None or self.input_limit_tokens > 0)


NO_OVERFLOW: Final = Verdict(is_overflow=False)


def verdict_of(answer: str | Mapping[str, Any], provider: str | None = None) -> Verdict:
    """The verdict on a provider's text or JSON body; `provider` is its sender, if known."""
    parts = list(_parts(answer))
    texts = _texts(parts), _names(parts)
    found = [_verdict(text, provider, is_busy=_is_busy(parts)) for text in texts]
    if not any(THROTTLED.search(text) for text in texts) and not any(map(_is_exceeded, filter(None, found))):
        refused = _reasoning_verdict(_joined(text[:REASON_CHARS] for text in texts), provider)
        if refused is not None:
            return refused
    return next(filter(None, found), NO_OVERFLOW)


def text_of(answer: str | Mapping[str, Any]) -> str:
    """The words of an answer: the answer itself if it is a text, else the texts in its `message` and `error`."""
    return _texts(_parts(answer))


def gap_of(text: str) -> tuple[int, int] | None:
    """The tokens sent and the limit, if a text names both, calls one of them tokens, and the first is larger."""
    actual, limit = _input_tokens(text), _first(_LIMIT, text)
    if actual is None or limit is None or actual <= limit:
        return None
    counted = {_number(match) for match in _COUNTED.finditer(text)}
    return None if counted.isdisjoint((actual, limit)) else (actual, limit)


def is_silent_overflow(stop: str, prompt_tokens: int, output_tokens: int, context_window: int) -> bool:
    """Whether an answer without an error shows that its prompt did not fit.

    Some providers accept a prompt that is too long and cut it silently. Then the reported prompt tokens exceed the
    window, or the prompt fills the window and the answer stops for its length before its first token.
    """
    if stop in CUT_OFF:
        return output_tokens == 0 and prompt_tokens >= FULL_SHARE * context_window
    return stop in ENDED and prompt_tokens > context_window


def _verdict(text: str, provider: str | None, *, is_busy: bool) -> Verdict | None:
    """The verdict on a text, None if the text does not decide; figures count more than a status beside them."""
    if THROTTLED.search(text):
        return NO_OVERFLOW
    size = next((row for row in SIZE_WORDINGS if row[1].search(text)), None)
    if size is not None and gap_of(text) is None and not is_busy:
        return Verdict(is_overflow=True, provider=provider or size[0], is_too_large=True)
    wording = next((row for row in WORDINGS if row[1].search(text)), None)
    verdict = Verdict(
        is_overflow=True,
        provider=provider or (wording and wording[0]),
        actual_tokens=_input_tokens(text),
        limit_tokens=_first(_LIMIT, text),
        output_tokens=_first(_OUTPUT, text),
    )
    if wording is not None and _is_exceeded(verdict):
        return verdict
    is_overflow = wording is not None or gap_of(text) is not None
    is_doubtful = is_busy or DOUBTFUL.search(text)
    return verdict if is_overflow and not is_doubtful else None


def _reasoning_verdict(text: str, provider: str | None) -> Verdict | None:
    """The verdict on a text that refuses reasoning; None on any other."""
    found = next((name for name, wording in REASONING_WORDINGS if wording.search(text)), None)
    if found is None:
        return None
    return Verdict(is_overflow=False, provider=provider or found, is_reasoning_refused=True)


def _is_exceeded(verdict: Verdict) -> bool:
    actual, limit = verdict.actual_tokens, verdict.input_limit_tokens
    return actual is not None and limit is not None and actual > limit


def _parts(answer: Any, levels: int = LEVELS_MAX) -> Iterator[str | Mapping[str, Any]]:
    """The objects and texts of an answer, from the outside in."""
    part = _parsed(answer) if isinstance(answer, str) else answer
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping) and levels:
        yield part
        for key in TEXT_KEYS:
            yield from _parts(part.get(key), levels - 1)


def _parsed(text: str) -> Any:
    """The JSON object in a text, or the text itself if it is none."""
    if len(text) > LONGEST_CHARS or not text.lstrip().startswith("{"):
        return text
    try:
        return wire.loads_bounded(text)
    except ValueError:
        return text


def _texts(parts: Iterable[str | Mapping[str, Any]]) -> str:
    return _joined(part for part in parts if isinstance(part, str))


def _names(parts: Iterable[str | Mapping[str, Any]]) -> str:
    names = (part.get(key) for part in parts if isinstance(part, Mapping) for key in NAME_KEYS)
    return _joined(name for name in names if isinstance(name, str) and len(name) <= LONGEST_NAME_CHARS)


def _is_busy(parts: Iterable[str | Mapping[str, Any]]) -> bool:
    return any(part.get(key) == TOO_MANY_REQUESTS for part in parts if isinstance(part, Mapping) for key in STATUS_KEYS)


def _joined(texts: Iterable[str]) -> str:
    text = "\n".join(filter(None, texts))[:LONGEST_CHARS]
    return text.replace("\u2019", "'").replace(r"\u003e", ">")


def _input_tokens(text: str) -> int | None:
    # By their words, because a wrapper often repeats the provider's error.
    parts = {match[0]: _number(match) for match in _INPUT_PARTS.finditer(text)}
    return sum(parts.values()) if parts else _first(_INPUT, text)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    found = (pattern.search(text) for pattern in patterns)
    match = next(filter(None, found), None)
    return None if match is None else _number(match)


def _number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[match.lastindex or 0]))
