"""What a provider's refusal says: whether the request was too long, in whose wording, and the figures it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

# Keys of an error's JSON that hold what it says, and how deep they are looked for.
SAYING: Final = ("message", "error")
LEVELS_MAX: Final = 3
# Providers come to the point at once; what follows is a trace or an echo of the request.
LONGEST_CHARS: Final = 10_000
# A prompt of this share of the window left no room for an answer.
FULL_SHARE: Final = 0.99
ENDED: Final = frozenset({"stop", "end_turn"})
CUT_OFF: Final = frozenset({"length", "max_tokens"})

_SEPARATOR: Final = r"[,._'\u00a0\u2009\u202f]"
_NUMBER: Final = rf"(?<!\d)(?<!\d{_SEPARATOR})(?:\d{{1,3}}(?:{_SEPARATOR}\d{{3}}){{1,4}}|\d{{1,15}})(?!{_SEPARATOR}?\d)"
_NOT_INPUT: Final = r"(?!\s*(?:output|completion|char|byte|[kmg]?i?b\b))"


def _compiled(*wordings: str) -> re.Pattern[str]:
    """A pattern for any of these: a space stands for all white space, `<n>` for a number, `<N>` for one that is given
    in tokens and not said to be of output.
    """
    number, tokens = f"({_NUMBER})", f"({_NUMBER}){_NOT_INPUT}"
    texts = (text.replace("<n>", number).replace("<N>", tokens).replace(" ", r"\s+") for text in wordings)
    return re.compile("|".join(texts), re.IGNORECASE)


# What is refused because of how much was sent before, or because the provider is busy: sent again it may well pass.
THROTTLED: Final = _compiled(
    r"\brate[ _-]?limit",
    "too many requests",
    "throttl",
    r"\bquota\b",
    r"(?<![a-z])per[ _-]?(?:second|min|minute|hour|day|month)(?![a-z])",
    r"\b[rt]p[dm]\b",
    "service unavailable",
    "overloaded",
    r"^(?:\W|error|status|code|http)*429\b",
)

# Wordings of overflow by provider. The first row that matches names the provider, so that whoever has a wording alone
# comes before those whose words others use too; words of nobody in particular come last.
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
    ("cohere", _compiled("total number of tokens .*cannot exceed")),
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
            "resource_exhausted",
            "input token count.*exceeds the maximum",
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
            r"validationexception.*\btokens?\b",
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
            "token limit exceeded",
            "max size: <n> tokens",
            "configured context size is <n>",
            "exceeds? (?:the )?(?:maximum |max )?(?:allowed )?(?:context|input|prompt) (?:length|size|limit|window)",
        ),
    ),
)

# Where the tokens of the input are named: in parts, or as a whole, the more certain wordings first.
_INPUT_PARTS: Final = _compiled(
    "<n> (?:tokens )?(?:in|from) (?:the (?:input )?messages|the functions|the tools|your prompt)", "<n> of [a-z]+ input"
)
_INPUT: Final = (
    _compiled(r"<n>\s*\+\s*[\d,]{1,20}\s*>"),
    _compiled("<n> (?:`inputs`|inputs?) tokens"),
    _compiled(r"<N>\s*tokens?\s*>", r"exceeded: <N>\s*>"),
    _compiled("(?:resulted in|requested:?|contains|has|have|received|given:) (?:about |at least )?<N>"),
    _compiled(r"token count(?: of| is| was|:)? \(?<N>"),
    _compiled(r"(?:prompt|input|requested)(?: tokens?| length)?(?: of)? \(?(?:length )?<N>", r"request \(<N> tokens"),
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
    """What an answer says; all figures are tokens as the provider counts them, None where it names none.

    `provider` is whose wording it is. `actual_tokens` are those of the input, where the text separates them from the
    `output_tokens` asked for; `limit_tokens` is what the model takes of both. `retryable`: compacting can help.
    """

    is_overflow: bool
    provider: str | None = None
    actual_tokens: int | None = None
    limit_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def input_limit_tokens(self) -> int | None:
        """What the model takes of input."""
        return None if self.limit_tokens is None else self.limit_tokens - (self.output_tokens or 0)

    @property
    def retryable(self) -> bool:
        """Whether a shorter input can pass: not where the output asked for takes all there is."""
        return self.is_overflow and (self.input_limit_tokens is None or self.input_limit_tokens > 0)


NO_OVERFLOW: Final = Verdict(is_overflow=False)


def verdict_of(answer: str | Mapping[str, Any], provider: str | None = None) -> Verdict:
    """What a provider's text or JSON body says; `provider` is who sent it, if that is known."""
    text = text_of(answer)
    if THROTTLED.search(text):
        return NO_OVERFLOW
    wording = next((row for row in WORDINGS if row[1].search(text)), None)
    if wording is None and gap_of(text) is None:
        return NO_OVERFLOW
    author = None if wording is None else wording[0]
    return Verdict(
        is_overflow=True,
        provider=provider or author,
        actual_tokens=_input_tokens(text),
        limit_tokens=_first(_LIMIT, text),
        output_tokens=_first(_OUTPUT, text),
    )


def text_of(answer: Any, levels: int = LEVELS_MAX) -> str:
    """What an answer says in words: the text it is, or all in its `message` and `error`."""
    if isinstance(answer, str):
        return answer[:LONGEST_CHARS].replace("\u2019", "'").replace(r"\u003e", ">")
    if not isinstance(answer, Mapping) or not levels:
        return ""
    said = (text_of(answer.get(key), levels - 1) for key in SAYING)
    return "\n".join(filter(None, said))


def gap_of(text: str) -> tuple[int, int] | None:
    """The tokens sent and the tokens taken, if a text names both and the first are more."""
    actual, limit = _input_tokens(text), _first(_LIMIT, text)
    return None if actual is None or limit is None or actual <= limit else (actual, limit)


def is_silent_overflow(stop: str, prompt_tokens: int, output_tokens: int, context_window: int) -> bool:
    """Whether an answer without an error shows that its prompt did not fit.

    Some providers take what is over the window and cut it silently: then the usage they report is more than the window,
    or the prompt fills it and the answer stops for its length before its first token.
    """
    if stop in CUT_OFF:
        return output_tokens == 0 and prompt_tokens >= FULL_SHARE * context_window
    return stop in ENDED and prompt_tokens > context_window


def _input_tokens(text: str) -> int | None:
    # By their words, because what wraps a provider's error often says it twice.
    parts = {match[0]: _number(match) for match in _INPUT_PARTS.finditer(text)}
    return sum(parts.values()) if parts else _first(_INPUT, text)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    found = (pattern.search(text) for pattern in patterns)
    match = next(filter(None, found), None)
    return None if match is None else _number(match)


def _number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[match.lastindex or 0]))
