"""NeuroLink's checks before a call: tokens, windows, budgets, files and overflow errors, as its users ask for them."""

from __future__ import annotations

from math import ceil
from typing import Final

import pytest

from tests.e2e.presets.driven import WINDOWS, Driven, Service, lines
from tests.parity.features import features
from tests.support.processes.api import Json, assistant, user
from tests.support.processes.program import foldline

TEXT: Final = "four" * 1_000
# What a thousand units of four take more than a thousand tokens, by provider.
MULTIPLIERS: Final = {
    "openai": 1.0,
    "azure": 1.0,
    "ollama": 1.0,
    "litellm": 1.0,
    "huggingface": 1.0,
    "sagemaker": 1.0,
    "anthropic": 1.23,
    "bedrock": 1.23,
    "google-ai": 1.18,
    "vertex": 1.18,
    "mistral": 1.26,
}
MARGIN: Final = 1.15
MESSAGE: Final = 4
WORDINGS: Final = [
    row.name.partition(": ")
    for row in features()
    if (row.system, row.section, row.kind) == ("neurolink", "Overflow errors", "row")
]


def estimate(text: str, provider: str) -> int:
    """NeuroLink's own estimate of a text."""
    return ceil(ceil(len(text.encode("utf-16-le")) / 2 / 4) * MULTIPLIERS[provider] * MARGIN)


@pytest.mark.parametrize("provider", MULTIPLIERS)
def test_a_session_counts_as_neurolink_does_for_its_provider(service: Service, provider: str) -> None:
    said = [user(TEXT), assistant("解析器" * 50), user("🦊" * 9), assistant("x")]
    expected = sum(MESSAGE + estimate(message["content"], provider) for message in said)
    session = service.start("neurolink", 32_000, model=f"{provider}/some-model")
    session.say(*said)
    assert session.stats["counted_tokens"] == expected
    # Another model's provider may be asked about too.
    other = session.get("/stats?model=anthropic/claude-sonnet-4-5")["counted_tokens"]
    assert (other > expected) == (MULTIPLIERS[provider] < 1.23)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_budget_says_what_of_a_call_takes_how_much_and_whether_it_is_time(service: Service, window: int) -> None:
    session = service.start("neurolink", window, auto_compact=False)
    available = session.stats["available_input_tokens"]
    assert available == pytest.approx(window - min(64_000, ceil(window * 0.35)) - 0.02 * window, abs=2)
    tools = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}]
    session.say(user("Go on."), assistant(lines(available // 2)))

    call = session.post(
        "/budget", {"prompt": "Fix it.", "tools": tools, "files": [{"path": "a.py", "content": "x = 1"}]}
    )

    assert set(call["breakdown"]) == {"system", "history", "prompt", "tools", "files", "pins"}
    assert all(call["breakdown"][part] > 0 for part in ("system", "history", "prompt", "tools", "files"))
    assert call["estimated_input_tokens"] == sum(call["breakdown"].values())
    assert (call["within_budget"], call["should_compact"]) == (True, False)
    stats = session.stats
    assert (stats["message_count"], stats["warning_level"], stats["should_compact"]) == (2, "none", False)
    assert stats["usage_ratio"] == pytest.approx(stats["counted_tokens"] / available, abs=0.05)
    assert call["usage_ratio"] < call["trigger_ratio"] == pytest.approx(0.8, abs=0.02)
    over = session.post("/budget", {"prompt": lines(available * 2 // 5)})
    assert (over["within_budget"], over["should_compact"]) == (True, True)
    assert session.post("/budget", {"prompt": lines(available)})["within_budget"] is False
    # A threshold of the call takes the place of the policy's trigger.
    assert session.post("/budget", {"threshold": 0.3})["should_compact"] is True
    assert session.post("/budget", {"threshold": 1.0})["should_compact"] is False
    for output, room in ((100, window - 100), (window // 2, window // 2)):
        asked = session.get(f"/stats?max_output_tokens={output}")
        assert asked["available_input_tokens"] == pytest.approx(room - 0.02 * window, abs=2)


def test_a_budget_is_checked_without_a_session_too(service: Service) -> None:
    body = {
        "model": "openai/gpt-4o",
        "system": "Be brief.",
        "messages": [user("Go on."), assistant("I do.")],
        "prompt": "And?",
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
        "files": [{"path": "a.py", "content": "x = 1"}, {"path": "b.log", "size_bytes": 20_000_000}],
    }
    answer = service.post("/budget", body)
    assert (answer["limit"], answer["fits"]) == (128_000 - 44_800, True)
    assert all(answer["breakdown"][part] > 0 for part in ("system", "history", "prompt", "tools", "files"))
    assert service.post("/budget", {**body, "max_output_tokens": 1_000})["limit"] == 127_000
    assert [file["action"] for file in answer["files"]] == ["keep", "preview"]
    # Also on the first message, before there is a history.
    first = service.post("/budget", {"context_window": 8_000, "files": body["files"]})
    assert [file["path"] for file in first["files"]] == ["a.py", "b.log"]


@pytest.mark.parametrize("window", WINDOWS)
def test_files_get_their_share_of_what_is_left(service: Service, window: int) -> None:
    session = service.start("neurolink", window, auto_compact=False)
    session.say(user("Go on."))
    room = session.stats["available_input_tokens"] - session.stats["estimated_input_tokens"]
    text = lines(room // 2)
    files: list[Json] = [
        {"path": "small.py", "content": "x = 1\n"},
        {"path": "large.py", "content": text},
        {"path": "huge.log", "size_bytes": 200 * window},
    ]
    call = session.post("/budget", {"files": files})
    assert call == session.post("/budget", {"files": files, "files_share": 0.6})
    small, large, huge = call["files"]
    assert (small["action"], small["max_chars"]) == ("keep", 6)
    assert large["action"] == "truncate"
    assert 0 < large["max_chars"] < len(text)
    # Above 5 MB, a file is only previewed.
    assert huge["action"] == ("truncate" if window == 8_000 else "preview")
    assert (huge["max_chars"] <= 2_000) == (huge["action"] == "preview")
    assert 0.2 * room < call["breakdown"]["files"] <= 0.6 * room
    # Larger files get what smaller ones leave.
    assert large["tokens"] > room * 0.6 / 3
    more = session.post("/budget", {"files": files, "files_share": 1.0})
    assert call["breakdown"]["files"] < more["breakdown"]["files"] <= room
    # Below 100 KB a file is cut too where it is over the budget, and left out where nothing is left.
    one = session.post("/budget", {"files": files[1:2], "files_share": 0.4})["files"][0]
    assert one["action"] == "truncate"
    none = session.post("/budget", {"prompt": lines(room * 3 // 2), "files": files[:1]})
    assert [file["action"] for file in none["files"]] == ["exclude"]
    assert none["breakdown"]["files"] == 0


def test_a_file_above_5_megabytes_is_only_previewed(service: Service) -> None:
    session = service.start("neurolink", 8_000_000)
    session.say(user("Go on."))
    (placed,) = session.post("/budget", {"files": [{"path": "huge.log", "size_bytes": 6_000_000}]})["files"]
    assert (placed["action"], placed["max_chars"]) == ("preview", 2_000)


def test_a_file_known_by_its_size_counts_a_token_for_four_characters(service: Service) -> None:
    session = service.start("neurolink", 64_000)
    session.say(user("Go on."))
    room = session.stats["available_input_tokens"] - session.stats["estimated_input_tokens"]
    files = [{"path": "some.log", "size_bytes": int(3.5 * 0.6 * room)}]
    (placed,) = session.post("/budget", {"files": files})["files"]
    assert placed["action"] == "keep"


def test_the_program_takes_whole_files_by_their_types(service: Service) -> None:
    session = service.start("neurolink@program", 16_000)
    session.say(user("Go on."))
    sizes = {"a.log": 200_000, "talk.mp4": 90_000_000, "report.pdf": 100_000, "b.log": 3_000}
    files = [{"path": path, "size_bytes": size} for path, size in sizes.items()]
    placed = session.post("/budget", {"files": files})["files"]
    assert [file["action"] for file in placed] == ["exclude", "keep", "keep", "keep"]
    assert [file["max_chars"] for file in placed] == [0, *[*sizes.values()][1:]]


def test_the_windows_of_neurolinks_models_are_listed_and_used(service: Service) -> None:
    rows = {row["model"]: row for row in service.get("/models?preset=neurolink")["items"]}
    assert rows["openai/gpt-4o"]["context_window"] == 128_000
    assert rows["vertex/gemini-1.5-pro"]["listed_window"] == 2_097_152
    printed = foldline("models", "--preset", "neurolink").stdout
    assert "gemini-1.5-pro" in printed
    for model, window in (
        ("vertex/gemini-1.5-pro", 2_097_152),
        # The beginning of a model's name is enough, and the longest one wins.
        ("vertex/gemini-1.5-flash-unheard-of", 1_048_576),
        ("openai/gpt-4o-mini-2024-07-18", 128_000),
        # Neither its name nor its provider is listed.
        ("nobody/nothing", 128_000),
    ):
        session = service.start("neurolink", model=model)
        assert session.get()["context_window"] == window
        reserve = min(64_000, ceil(window * 0.35))
        assert session.stats["available_input_tokens"] == pytest.approx(window - reserve, abs=0.02 * window + 1)
        asked = session.get("/stats?max_output_tokens=5000")["available_input_tokens"]
        assert asked == pytest.approx(window - 5_000, abs=0.02 * window + 1)


@pytest.fixture
def reported(service: Service) -> Driven:
    """A session of which an old version is reported, so that a report changes nothing."""
    session = service.start("neurolink", 32_000)
    session.say(user("one"), assistant("two"))
    session.say(user("three"), assistant("four"))
    return session


def verdict(session: Driven, error: str | Json) -> Json:
    found: Json = session.post("/overflow", {"error": error, "version": 2})["verdict"]
    return found


@pytest.mark.parametrize(("provider", "_", "wording"), WORDINGS, ids=[row[2] for row in WORDINGS])
def test_every_wording_of_an_overflow_is_recognized(reported: Driven, provider: str, _: str, wording: str) -> None:
    text = wording.replace(" … ", ": too many input ").replace("token", "tokens for this model")
    if wording == "RESOURCE_EXHAUSTED":
        assert verdict(reported, wording)["is_overflow"] is False
        text = f"{wording}: the input token count exceeds the maximum number of tokens allowed"
    found = verdict(reported, f"400: {text if '…' in wording else text.replace('tokens for this models', 'tokens')}")
    assert (found["is_overflow"], found["retryable"]) == (True, True)
    assert found["provider"] in {provider, "bedrock" if wording == "input is too long" else provider}


@pytest.mark.parametrize(
    ("error", "provider"),
    [
        ("request payload size exceeds the limit", None),
        (
            {"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed (5)."}},
            "google",
        ),
        (
            {"message": "it failed", "cause": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}},
            "anthropic",
        ),
        ("Please reduce the length of the messages or completion.", "openai"),
    ],
)
def test_errors_are_read_as_texts_or_objects_with_their_causes(
    reported: Driven, error: str | Json, provider: str | None
) -> None:
    found = verdict(reported, error)
    assert found["is_overflow"] or found["is_too_large"]
    assert provider is None or found["provider"] == provider


@pytest.mark.parametrize("error", ["429: Rate limit reached", "the disk is full", {"error": {"message": "overloaded"}}])
def test_other_errors_are_no_overflow_and_have_no_provider(reported: Driven, error: str | Json) -> None:
    found = verdict(reported, error)
    assert (found["is_overflow"], found["retryable"], found["provider"]) == (False, False, None)


@pytest.mark.parametrize("window", WINDOWS)
def test_after_an_overflow_the_view_takes_at_most_70_percent_of_what_the_provider_names(
    service: Service, window: int
) -> None:
    session = service.start("neurolink", window)
    session.work(8)
    before = session.get("/context")
    used, limit = before["budget"]["used"], before["budget"]["used"] * 9 // 10
    error = f"prompt is too long: {used} tokens > {limit} maximum"

    answer = session.post("/overflow", {"error": error, "version": before["version"]})

    assert (answer["verdict"]["actual_tokens"], answer["verdict"]["limit_tokens"]) == (used, limit)
    after = session.get("/context")
    assert after["version"] == answer["version"] > before["version"]
    assert after["budget"]["used"] <= 0.7 * limit
    assert answer["result"]["compacted"] is True
    # A second report of the same view changes nothing.
    again = session.post("/overflow", {"error": error, "version": before["version"]})
    assert again["result"]["compacted"] is False
    session.rest()
    assert session.stats["pending_tokens"] == 0
