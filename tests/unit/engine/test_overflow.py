import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.overflow import LONGEST_CHARS, NO_OVERFLOW, Verdict, gap_of, is_silent_overflow, verdict_of
from foldline.engine.wire import dumps_text

WORDS = st.sampled_from(
    [
        *("prompt", "is", "too", "long", "tokens", "limit", "of", "maximum", "context", "length", ">", "+", "(", "[1,"),
        *(
            "1,048,576",
            "4096",
            "12",
            "per",
            "minute",
            "rate limit",
            "exceeds",
            "the",
            "requested",
            "ValidationException",
            "quota",
            "token limit exceeded",
            "context_length_exceeded",
        ),
    ]
)
SAYINGS = st.lists(WORDS, max_size=8).map(" ".join)
# Keys that are read and keys that are not, at all depths.
BODIES = st.recursive(
    SAYINGS | st.sampled_from([400, 413, 429]) | st.none(),
    lambda inner: st.dictionaries(st.sampled_from(["message", "error", "code", "type", "headers"]), inner),
    max_leaves=12,
).filter(lambda body: isinstance(body, dict))
OPENAI = (
    "This model's maximum context length is 8,192 tokens. However, you requested 9,000 tokens "
    "(6,000 in the messages, 500 in the functions, 2,500 in the completion)."
)
OPENROUTER = (
    "This endpoint's maximum context length is 9000 tokens. However, you requested about 9500 tokens "
    "(6000 of text input, 1000 of tool input, 2500 in the output)."
)
VLLM = (
    "This model's maximum context length is 9000 tokens. However, you requested 2500 output tokens and your "
    "prompt contains at least 7000 input tokens, for a total of at least 9500 tokens."
)
ANTHROPIC = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"


def figures(text: str) -> tuple[int | None, int | None]:
    verdict = verdict_of(text)
    assert verdict.is_overflow
    return verdict.actual_tokens, verdict.limit_tokens


@pytest.mark.parametrize(
    ("text", "provider"),
    [
        ("prompt is too long: 213462 tokens > 200000 maximum", "anthropic"),
        ("input length and `max_tokens` exceed context limit: 9000 + 2000 > 10000, decrease either", "anthropic"),
        ("Request exceeds the maximum size", "anthropic"),
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            "openai",
        ),
        ("This model\u2019s maximum context length is 8192 tokens.", "openai"),
        ("Your input exceeds the context window of this model. Adjust your input and try again.", "openai"),
        ("This endpoint's maximum context length is 8192 tokens. However, you requested about 9000.", "openrouter"),
        ("The input token count (9000) exceeds the maximum number of tokens allowed (8192).", "google"),
        ("ValidationException: Input is too long for requested model", "bedrock"),
        ("anthropic: input is too long", "anthropic"),
        ("Prompt contains 9000 tokens, too large for model with 8192 maximum context length", "mistral"),
        ("This model's maximum prompt length is 8192 but the request contains 9000 tokens", "xai"),
        ("the request exceeds the available context size, try increasing it", "llama.cpp"),
        ('{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}', "llama.cpp"),
        ("400 status code (no body)", "cerebras"),
        ("the content_length_exceeded check failed", "azure"),
        ('{"code": "context_length_exceeded"}', "openrouter"),
        ("PROMPT IS TOO LONG", "anthropic"),
        ("the maximum\n  context length was reached", "anthropic"),
        ("An error occurred (ValidationException): The conversation is too long", "bedrock"),
        ("ValidationException: too many input tokens", "bedrock"),
        ("ValidationException: the request exceeds the model's context window", "bedrock"),
        ("ValidationException: 9000 tokens, over the limit of 8192", "bedrock"),
        ("ValidationException: prompt is too long: 9000 tokens > 8192 maximum", "bedrock"),
        ("token limit exceeded", None),
        ("prompt_too_long", None),
        ('{"type":"prompt_too_long"}', None),
        ('{"error":{"type":"prompt_too_long","message":"no"}}', None),
        ("413 prompt_too_long", None),
        ("it has 9,000 tokens > 8,192", None),
    ],
)
def test_an_overflow_is_known_by_the_wording_of_its_provider(text: str, provider: str | None) -> None:
    verdict = verdict_of(text)
    assert (verdict.is_overflow, verdict.provider, verdict.retryable) == (True, provider, True)


@pytest.mark.parametrize(
    "text",
    [
        "429 Too Many Requests: token limit exceeded",
        "429 prompt_too_long",
        "Rate limit reached: too many tokens",
        "rate_limit_exceeded: requested 9000 tokens, limit 8000",
        "too many tokens per minute",
        "Request too large on TPM: Limit 30000, Requested 41234",
        "ThrottlingException: Too many tokens, wait before trying again.",
        "RESOURCE_EXHAUSTED: the quota of input tokens is used up, limit: 250000",
        "Error code: 429 - context length exceeded",
        "Service unavailable: prompt is too long",
        "google.genai.errors.ClientError: 429 RESOURCE_EXHAUSTED. {'message': 'Resource exhausted. Try again later.'}",
        "ClientError: 429 RESOURCE_EXHAUSTED: input token limit",
        "ClientError: RESOURCE_EXHAUSTED (429): input token limit",
        "ClientError: {'message': 'Resource exhausted: too many tokens', 'code': 429}",
        '{"error":{"message":"Resource exhausted. Please try again later.","status":"RESOURCE_EXHAUSTED","code":429}}',
        "openai.APIError: status_code=429, too many tokens",
        '{"error":{"message":"Too many tokens","code":429}}',
        '{"message":"Resource exhausted: input token limit","status":429}',
        "tenant-rate-limit exceeded: too many tokens: 9000 tokens > 8192",
        "upstream answered HTTP/1.1 429: too many tokens",
        "Bad gateway (429 Too many tokens)",
        "Too many tokens, please wait before trying again.",
        "You exceeded your current quota: prompt is too long: 9000 tokens > 8192 maximum",
        "Rate limit reached for gpt-9 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000.",
        "prompt is too long; see the quota docs",
    ],
)
def test_throttling_is_never_an_overflow(text: str) -> None:
    assert verdict_of(text) == NO_OVERFLOW
    assert not verdict_of(text).retryable


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Internal server error 72640",
        "model gpt-9 not found",
        "step 5 > 3 failed",
        "7 tokens > 9",
        "upload of a.bin exceeds the limit of 46 MB",
        "Tool name length 70 exceeds the limit of 64",
        "max_tokens: 100000 > 64000, the most output this model gives",
        "ValidationException: max_tokens must be at least 1",
        "An error occurred (ValidationException): The security token included in the request is invalid",
        "ValidationException: unexpected special tokens in input",
        "ValidationException: The maximum tokens you requested exceeds the model limit of 4096",
        "ValidationException: The maximum number of tokens you requested (5000) exceeds the limit of 4096",
        "ValidationException: the name of the tool is too long",
        "You have too many tokens (API tokens) registered",
        "You have too many tokens registered",
        "RESOURCE_EXHAUSTED: no worker is free",
        "tool_choice: has 300 > 200",
        "request has 5000 items, over the limit 100 requests",
    ],
)
def test_other_errors_are_no_overflow(text: str) -> None:
    assert verdict_of(text) == NO_OVERFLOW


@pytest.mark.parametrize(
    "aside",
    [
        "see https://docs.example/rate-limits",
        "see https://docs.example/quota for more",
        "see the quota docs",
        "anthropic-ratelimit-tokens-limit: 400000",
    ],
)
def test_figures_weigh_more_than_a_mere_mention_of_other_limits(aside: str) -> None:
    assert figures(f"{SAID}; {aside}") == (9, 8)


def test_tokens_that_are_429_are_no_status() -> None:
    assert figures("Error: 429 tokens > 400") == (429, 400)


@pytest.mark.parametrize(
    ("text", "actual", "limit"),
    [
        ("prompt is too long: 213462 tokens > 200000 maximum", 213_462, 200_000),
        (r"prompt is too long: 213462 tokens \u003e 200000 maximum", 213_462, 200_000),
        (
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            1_196_265,
            1_048_575,
        ),
        ("maximum prompt length is 131072 but the request contains 537812 tokens", 537_812, 131_072),
        ("prompt token count of 93854 exceeds the limit of 90000", 93_854, 90_000),
        ("The request exceeds the limit of 128000 tokens", None, 128_000),
        ("messages: total length exceeds the limit of 131072 tokens", None, 131_072),
        ("input_tokens: 9000 exceeds the limit of 8192", None, 8_192),
        ("Your request exceeded model token limit: 32768 (requested: 36657)", 36_657, 32_768),
        ("input has 43025 tokens, over the limit of 4096", 43_025, 4_096),
        ("The prompt of 198823 exceeds the model's maximum of 128000", 198_823, 128_000),
        ("request (5290 tokens) exceeds the available context size (4096 tokens)", 5_290, 4_096),
        ("Requested input (16760 tokens) is longer than the model's context length (8192 tokens)", 16_760, 8_192),
        ("Input length 9001 exceeds the maximum allowed input length of 8192 tokens.", 9_001, 8_192),
        ("too many tokens: total number of tokens cannot exceed 2048 - received 6354", 6_354, 2_048),
        ("Range of input length should be [1, 32768]", None, 32_768),
        ("prompt too long; exceeded max context length by 5 tokens", None, None),
        ("invalid params, context window exceeds limit (2013)", None, None),
        ("content is too long (31188 chars)", None, None),
        ("request payload size exceeds the limit: 28041 bytes", None, None),
    ],
)
def test_the_figures_of_a_refusal_are_read(text: str, actual: int | None, limit: int | None) -> None:
    assert figures(text) == (actual, limit)


@pytest.mark.parametrize(
    ("text", "actual", "limit", "output"),
    [
        (OPENAI, 6_500, 8_192, 2_500),
        (OPENROUTER, 7_000, 9_000, 2_500),
        (VLLM, 7_000, 9_000, 2_500),
        (ANTHROPIC, 188_240, 200_000, 21_333),
    ],
)
def test_the_input_is_separated_from_the_output_asked_for(text: str, actual: int, limit: int, output: int) -> None:
    verdict = verdict_of(text)
    assert (verdict.actual_tokens, verdict.limit_tokens, verdict.output_tokens) == (actual, limit, output)
    assert verdict.input_limit_tokens == limit - output
    assert verdict.retryable


def test_no_compacting_helps_where_the_output_asked_for_takes_all_there_is() -> None:
    verdict = verdict_of("exceed context limit: 90 + 4000 > 4000, maximum context length")
    assert (verdict.is_overflow, verdict.input_limit_tokens, verdict.retryable) == (True, 0, False)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.sampled_from((",", ".", "_", "'", "\u202f", "")))
def test_thousands_may_be_separated(actual: int, limit: int, separator: str) -> None:
    sent, taken = (f"{number:,}".replace(",", separator) for number in (actual, limit))
    assert figures(f"prompt is too long: {sent} tokens > {taken} maximum") == (actual, limit)
    assert gap_of(f"{sent} tokens > {taken}") == ((actual, limit) if actual > limit else None)


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("9001 tokens > 8192", (9_001, 8_192)),
        ("Error 400: 9001 token>8192", (9_001, 8_192)),
        ("requested 9001 tokens, limit 8192", (9_001, 8_192)),
        ("8192 tokens > 8192", None),
        ("requested 7000 tokens, limit 8192", None),
        ("9001 tokens", None),
        ("9001 > 8192", None),
        ("it has 9001 > 8192", None),
        ("it has 9001 items, limit 8192", None),
        ("token count: 9001 exceeds the limit of 8192", (9_001, 8_192)),
    ],
)
def test_a_gap_is_between_the_tokens_sent_and_fewer_taken(text: str, gap: tuple[int, int] | None) -> None:
    assert gap_of(text) == gap


SAID = "prompt is too long: 9 tokens > 8 maximum"
VERDICT = Verdict(is_overflow=True, provider="anthropic", actual_tokens=9, limit_tokens=8)


@pytest.mark.parametrize(
    "answer",
    [
        {"message": SAID},
        {"error": SAID},
        {"error": {"message": SAID, "code": 400}},
        {"error": {"error": {"message": SAID}}, "status": 400},
        {"message": {"error": {"message": SAID}}},
        {"message": None, "error": SAID},
        {"error": "Bad Request", "message": SAID},
    ],
)
def test_a_json_body_says_what_its_text_says(answer: dict[str, Any]) -> None:
    assert verdict_of(answer) == verdict_of(SAID) == VERDICT


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"status": 413},
        {"detail": SAID},
        {"message": [SAID]},
        {"error": {"error": {"error": {"error": {"message": SAID}}}}},
    ],
)
def test_nothing_is_read_elsewhere_in_a_body(answer: dict[str, Any]) -> None:
    assert verdict_of(answer) == NO_OVERFLOW


@pytest.mark.parametrize(
    ("answer", "provider"),
    [
        ({"code": "context_length_exceeded"}, "openrouter"),
        ({"error": {"message": "Bad Request", "type": "request_too_large"}}, "anthropic"),
        ({"error": {"message": OPENAI, "code": "context_length_exceeded"}}, "openai"),
        (
            {"error": {"message": "Bad Request, see https://a.example/quota", "code": "context_length_exceeded"}},
            "openrouter",
        ),
        ({"error": {"message": "Rate limit reached", "code": "context_length_exceeded"}}, None),
        ({"error": {"message": "Bad Request", "code": "rate_limit_exceeded"}}, None),
        ({"error": {"message": SAID, "type": "rate_limit_error"}}, "anthropic"),
        ({"error": {"message": SAID, "code": 429}}, "anthropic"),
        ({"error": {"message": "Bad Request", "code": 413, "param": "context_length_exceeded"}}, None),
    ],
)
def test_what_an_error_is_called_counts_where_its_message_decides_nothing(
    answer: dict[str, Any], provider: str | None
) -> None:
    assert verdict_of(answer).provider == provider
    assert verdict_of(answer).is_overflow is (provider is not None)


def test_only_what_a_text_of_json_says_is_read() -> None:
    headers = {"anthropic-ratelimit-tokens-limit": "400000", "x-reason": "too many requests, quota exceeded"}
    body = {"name": "AI_APICallError", "message": SAID, "responseHeaders": headers}
    assert verdict_of(dumps_text(body)) == verdict_of({"error": dumps_text(body)}) == VERDICT
    assert verdict_of(dumps_text({"message": "not found", "echo": SAID})) == NO_OVERFLOW


@given(BODIES, st.sampled_from(["", " ", "\n"]))
def test_a_body_says_the_same_as_an_object_and_as_text(body: dict[str, Any], space: str) -> None:
    assert verdict_of(space + dumps_text(body)) == verdict_of(body)
    assert verdict_of({"error": dumps_text(body)}) == verdict_of({"error": body})


@pytest.mark.parametrize("text", ["{", "{}", '{"a":' * 1_900, '{"message":' + "9" * 9_000 + "}", '{"a": NaN}'])
def test_what_is_no_json_is_read_as_it_stands(text: str) -> None:
    assert verdict_of(text) == NO_OVERFLOW


@pytest.mark.parametrize("text", [f"{{{SAID}}}", f"{SAID} {{}}", f'["{SAID}"]'])
def test_a_text_that_only_looks_like_an_object_is_read_as_it_stands(text: str) -> None:
    assert verdict_of(text) == VERDICT


def test_a_refusal_that_is_said_twice_counts_once() -> None:
    assert verdict_of({"message": OPENAI, "error": {"message": OPENAI}}) == verdict_of(OPENAI)


def test_whoever_is_named_is_the_provider_of_an_overflow() -> None:
    assert verdict_of("input is too long", "anthropic").provider == "anthropic"
    assert verdict_of("not found", "anthropic") == NO_OVERFLOW


def test_a_long_text_is_read_at_its_beginning_only() -> None:
    assert verdict_of(SAID + "." * LONGEST_CHARS + " rate limit").is_overflow
    assert verdict_of("." * LONGEST_CHARS + SAID) == NO_OVERFLOW


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(string.printable, max_size=200))
def test_any_text_gets_a_sound_verdict(text: str) -> None:
    verdict = verdict_of(text)
    assert verdict == verdict_of({"error": {"message": text}})
    assert verdict.is_overflow or verdict == NO_OVERFLOW
    assert verdict_of(f"{text} rate limit") == NO_OVERFLOW


@pytest.mark.parametrize(
    ("stop", "prompt", "output", "is_overflow"),
    [
        ("stop", 1_001, 5, True),
        ("end_turn", 1_001, 5, True),
        ("stop", 1_000, 5, False),
        ("length", 990, 0, True),
        ("max_tokens", 990, 0, True),
        ("length", 989, 0, False),
        ("length", 1_001, 1, False),
        ("tool_calls", 1_001, 5, False),
    ],
)
def test_an_overflow_may_be_silent(stop: str, prompt: int, output: int, *, is_overflow: bool) -> None:
    assert is_silent_overflow(stop, prompt, output, 1_000) is is_overflow


@pytest.mark.parametrize(
    "text",
    [
        "The encrypted content gAAA...DQ== could not be verified.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
)
def test_a_refusal_of_reasoning_items_is_no_overflow(text: str) -> None:
    assert verdict_of(text) == Verdict(is_overflow=False, provider="openai", is_reasoning_refused=True)


def test_another_item_that_is_missing_is_no_refusal_of_reasoning() -> None:
    assert not verdict_of("Item 'a' was provided without its required 'output' item: 'b'.").is_reasoning_refused


@pytest.mark.parametrize(
    "text",
    [
        "prompt is too long: 210000 tokens > 200000 maximum. Request: [why 'Invalid `signature` in `thinking` block'?]",
        "rate limit exceeded; last error: Invalid `signature` in `thinking` block",
        "400 bad request. " + "x" * 700 + " Invalid `signature` in `thinking` block",
    ],
)
def test_a_text_that_quotes_a_refusal_of_reasoning_is_none(text: str) -> None:
    assert not verdict_of(text).is_reasoning_refused


def test_an_overflow_that_quotes_a_refusal_of_reasoning_stays_an_overflow() -> None:
    text = "prompt is too long: 210000 tokens > 200000 maximum: Invalid `signature` in `thinking` block"
    assert verdict_of(text).is_overflow


@pytest.mark.parametrize(
    "text",
    [
        "413 Request Entity Too Large",
        "413 Content Too Large",
        "Request too large (max 32MB)",
        "At most 1 image(s) may be provided in one prompt.",
        "Total number of images exceeds the limit of 8",
        "Request payload size exceeds the limit: 20971520 bytes",
    ],
)
def test_too_many_bytes_or_images_are_an_overflow_of_their_own(text: str) -> None:
    verdict = verdict_of(text)
    assert (verdict.is_overflow, verdict.is_too_large) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        "Your file content is too large to be cached",
        "tools.0.description: content too large",
        "invalid schema: response payload too large",
        "upload failed: content too large",
    ],
)
def test_something_else_that_is_too_large_is_no_overflow(text: str) -> None:
    assert not verdict_of(text).is_overflow


@pytest.mark.parametrize(
    ("code", "is_refused"),
    [
        ("compaction_signature_invalid", True),
        ("compaction_tool_changes_mismatch", True),
        ("compaction_unavailable", False),
        ("compaction_nothing_to_summarize", False),
    ],
)
def test_a_refused_summary_of_the_providers_own_is_known_by_its_code(code: str, *, is_refused: bool) -> None:
    error = {"type": "invalid_request_error", "message": "Send it as it came.", "details": {"error_code": code}}
    assert verdict_of({"type": "error", "error": error}).is_reasoning_refused == is_refused
