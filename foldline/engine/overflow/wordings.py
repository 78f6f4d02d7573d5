"""The wordings of providers' errors as patterns: overflows, throttling, refused reasoning, sizes, and their figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

_SEPARATOR: Final = r"[,._'\u00a0\u2009\u202f]"
_NUMBER: Final = rf"(?<!\d)(?<!\d{_SEPARATOR})(?:\d{{1,3}}(?:{_SEPARATOR}\d{{3}}){{1,4}}|\d{{1,15}})(?!{_SEPARATOR}?\d)"
# The HTTP status 429, and not a number of tokens.
_BUSY: Final = r"429\b(?![.,]\d|\s*tokens?\s*>)"
_NOT_INPUT: Final = r"(?!\s*(?:output|completion|char|byte|[kmg]?i?b\b))"


class Wordings:
    """A pattern for any of these wordings.

    A space matches any white space, `<n>` a number, and `<N>` a number of tokens that is not named as output.
    """

    def __init__(self, *wordings: str) -> None:
        self._wordings = wordings

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in the text."""
        return self._pattern.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches in the text."""
        return self._pattern.finditer(text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Most processes never see an error, and need none of the patterns.
        number, tokens = f"({_NUMBER})", f"({_NUMBER}){_NOT_INPUT}"
        texts = (text.replace("<n>", number).replace("<N>", tokens).replace(" ", r"\s+") for text in self._wordings)
        return re.compile("|".join(texts), re.IGNORECASE)


# Refusals because too much was sent before or because the provider is busy. The same request may pass later.
THROTTLED: Final = Wordings(
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
DOUBTFUL: Final = Wordings(
    r"\brate[ _-]?limit",
    r"\bquota\b",
    r"\b(?:security|api|access|auth|bearer) tokens?\b",
    r"\btokens? (?:registered|expired|revoked)\b",
    "tokens (?:that )?you requested",
)

# Wordings of overflow by provider. The first row that matches names the provider. Wordings of one provider alone come
# first, then those that others use too, and at last those of no provider.
WORDINGS: Final[tuple[tuple[str | None, Wordings], ...]] = (
    ("openrouter", Wordings("this endpoint's maximum context length")),
    ("mistral", Wordings("too large for model with <n> maximum context length")),
    ("anthropic", Wordings("anthropic: input is too long", "input length and `?max_tokens`? exceed context limit")),
    ("xai", Wordings("maximum prompt length is <n>")),
    ("together", Wordings("longer than the model's context length")),
    (
        "llama.cpp",
        Wordings("exceeds? the available context size", "exceeds? context size", "context size has been exceeded"),
    ),
    ("lmstudio", Wordings("greater than the context length", "loaded with context length of only")),
    ("minimax", Wordings("context window exceeds limit")),
    ("kimi", Wordings("exceeded model token limit")),
    ("zai", Wordings("model_context_window_exceeded", "prompt exceeds max length")),
    ("ollama", Wordings("prompt too long; exceeded (?:max )?context length")),
    ("qwen", Wordings("range of input length should be")),
    ("cohere", Wordings("total number of tokens .{0,200}cannot exceed")),
    ("huggingface", Wordings("`?inputs`? must have less than <n> tokens", r"`max_new_tokens` must be <= <n>")),
    ("vllm", Wordings("maximum model length of <n>", "exceeds the max_model_len")),
    (
        "cerebras",
        Wordings(r"^\W*4(?:00|13)(?: status code)?\s*\(no body\)", "current length is <n> while limit is <n>"),
    ),
    (
        "openai",
        Wordings(
            "this model's maximum context length",
            "exceeds? (?:the )?(?:model's )?maximum context length",
            r"tokens\. however, (?:your messages|you requested)",
            "reduce the length of the messages",
            "please reduce the length",
            "exceeds? the context window",
            "input tokens exceed the configured limit",
        ),
    ),
    ("azure", Wordings("content_length_exceeded")),
    (
        "google",
        Wordings(
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
        Wordings(
            r"validationexception.{0,200}(?:input|prompt|request|messages?|conversation) (?:is|are|was|were) too long",
            "validationexception.{0,200}too many (?:input )?tokens",
            r"validationexception.{0,200}exceed\w*(?: [\w']+){0,3} (?:context|input|maximum number of tokens)\b",
            "validationexception.{0,200}<N> tokens, over the limit",
            "input is too long",
            "exceeds the model's maximum",
            "too many input tokens",
        ),
    ),
    ("mistral", Wordings("context length exceeded", "maximum number of tokens")),
    ("openrouter", Wordings("context_length_exceeded")),
    ("copilot", Wordings(r"tokens?\b.{0,80}exceeds the limit of <N>", r"exceeds the limit of <N> tokens?\b")),
    (
        "anthropic",
        Wordings(
            "prompt is too long",
            "request_too_large",
            "request exceeds the maximum (?:size|allowed number of bytes)",
            "too many tokens",
            "maximum context length",
        ),
    ),
    (
        None,
        Wordings(
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
REASONING_WORDINGS: Final[tuple[tuple[str, Wordings], ...]] = (
    (
        "anthropic",
        Wordings(
            r"invalid [`'\"]?signature[`'\"]? in [`'\"]?(?:redacted_)?thinking[`'\"]? block",
            "block is bound to a different",
            r"\bprefix_mismatch\b",
            r"thinking[`'\"]? blocks? .{0,100}cannot be modified",
            # Its own summaries, by the codes of their errors; these two are about requests for one.
            r"\bcompaction_(?!unavailable|nothing_to_summarize)[a-z]+_",
            r"input tag [`'\"]compaction[`'\"] .{0,60}does not match any of the expected tags",
        ),
    ),
    (
        "openai",
        Wordings(
            "invalid_encrypted_content",
            "encrypted content .{0,200}could not be (?:verified|decrypted|parsed)",
            "provided without its required ['`\"]?reasoning['`\"]? item",
            "of type ['`\"]?reasoning['`\"]? was provided without its required following item",
        ),
    ),
    (
        "google",
        Wordings("(?:invalid|corrupted) thought[ _]?signature", "thought[ _]?signature is (?:not valid|invalid)"),
    ),
)
# Wordings of requests with too many bytes or images, whatever their tokens.
SIZE_WORDINGS: Final[tuple[tuple[str | None, Wordings], ...]] = (
    (
        "anthropic",
        Wordings(
            "request_too_large",
            "request exceeds the maximum (?:size|allowed number of bytes)",
            r"image exceeds (?:the )?[\d.]+ ?mb(?: maximum| limit)?",
            "image dimensions exceed (?:the )?max(?:imum)? allowed size",
            "many-image requests",
        ),
    ),
    ("google", Wordings("request payload size exceeds")),
    (
        None,
        Wordings(
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
COUNTED: Final = Wordings(
    r"<n>\s*(?:(?:input|prompt|`?inputs`?) )?tokens?\b", r"\btokens?(?: count)?(?: of| is| was|:)? \(?<n>"
)
# Wordings that name the input tokens, in parts or as a whole, the more certain ones first.
INPUT_PARTS: Final = Wordings(
    "<n> (?:tokens )?(?:in|from) (?:the (?:input )?messages|the functions|the tools|your prompt)", "<n> of [a-z]+ input"
)
INPUT: Final = (
    Wordings(r"<n>\s*\+\s*[\d,]{1,20}\s*>"),
    Wordings("<n> (?:`inputs`|inputs?) tokens"),
    Wordings(r"<N>\s*tokens?\s*>", r"exceeded: <N>\s*>"),
    Wordings(rf"(?:resulted in|{_REQUESTED}:?|contains|has|have|received|given:) (?:about |at least )?<N>"),
    Wordings(r"token count(?: of| is| was|:)? \(?<N>"),
    Wordings(
        rf"(?:prompt|input|{_REQUESTED})(?: tokens?| length)?(?: of)? \(?(?:length )?<N>", r"request \(<N> tokens"
    ),
    Wordings("prompt is too long: <N>", "current length is <N>", "to keep the first <N> tokens"),
)
OUTPUT: Final = (
    Wordings(r"\d\s*\+\s*<n>\s*>"),
    Wordings("<n> (?:tokens )?(?:in|for) the (?:completion|output)", "<n> (?:output|completion|`max_new_tokens`)"),
)
LIMIT: Final = (
    Wordings(r"\d(?:\s*tokens?)?\s*>\s*<N>"),
    Wordings("model with <N> maximum", r"should be \[\d+,\s*<N>\]", "supports up to <N>", "cannot exceed <N>"),
    Wordings("(?:less than|must be <=) <N>", r"max_model_len \(?<N>", "max(?:imum)? (?:input tokens|size):? <N>"),
    Wordings(
        r"(?:context|max(?:imum)? (?:allowed )?(?:input|prompt)) (?:length|size|window)(?: is| of| only|:)* \(?<N>"
    ),
    # 2013 is MiniMax's code for this error.
    Wordings(r"(?:model length|limit|maximum|number of tokens)(?: is| of| allowed|:)* (?!\(2013\))\(?<N>"),
)
# Wordings of refusals because more output was asked for than the model gives in one answer, with that limit.
OUTPUT_LIMITS: Final = (
    Wordings(r"supports at most <n> (?:completion|output) tokens", r"at most <n> (?:completion|output) tokens"),
    Wordings(
        r"max_(?:output_)?tokens`?: <n> > <n>, which is the maximum", r"valid range of max_tokens is \[\d+, ?<n>\]"
    ),
    Wordings(
        r"max_(?:completion_|output_|new_)?tokens`? must be (?:less than or equal to|at most|<=) `?<n>`?",
        "max tokens must be (?:less than or equal to|at most|<=) <n>",
    ),
    Wordings(r"tokens you requested exceeds? the model limit of <n>"),
    Wordings(r"max_?output_?tokens value of [\d,]{1,12} but the supported range is from 1 \(inclusive\) to <n>"),
    Wordings(r"max(?:imum)? (?:number of )?(?:output|completion) tokens(?: allowed)?(?: is|:| of) <n>"),
)
