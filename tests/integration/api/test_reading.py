"""Statistics, entries, pins and what there is to choose from."""

from __future__ import annotations

import pytest

from foldline.engine.models.windows import known_models
from foldline.engine.policies.presets import PRESETS
from tests.support.processes.api import Api, Json, assistant, user

WORDS = "so it goes on and on " * 20
QUIET = {"should_compact": False, "warning_level": "none", "within_budget": True, "pending_tokens": 0}


def test_the_statistics_of_an_empty_session_are_zeros(api: Api) -> None:
    stats = api.get(f"{api.session(system='Be brief.')}/stats")
    assert stats == {
        **QUIET,
        "estimated_input_tokens": 0,
        "available_input_tokens": 1260,
        "usage_ratio": 0.0,
        "trigger_ratio": stats["trigger_ratio"],
        "counted_tokens": 0,
        "trigger_tokens": 0,
        "target_tokens": 0,
        "message_count": 0,
        "breakdown": {"system": 0, "tools": 0, "pins": 0, "history": 0},
    }


def test_statistics_say_how_full_the_view_is(api: Api) -> None:
    session = api.session(auto_compact=False)
    used = api.say(session, user("one"), assistant("two"))["budget"]["used"]
    stats = api.get(f"{session}/stats")
    assert {name: stats[name] for name in QUIET} == QUIET
    assert (stats["estimated_input_tokens"], stats["message_count"]) == (used, 2)
    assert stats["usage_ratio"] == pytest.approx(used / 1260, abs=1e-4)
    levels = []
    for _ in range(5):
        api.fill(session, turns=1)
        stats = api.get(f"{session}/stats")
        levels.append((stats["warning_level"], stats["within_budget"], stats["should_compact"]))
    assert levels == [
        ("none", True, False),
        ("none", True, False),
        ("none", True, False),
        ("warning", True, True),
        ("critical", False, True),
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_statistics_say_by_which_figures_it_is_time_to_compact(api: Api, preset: str) -> None:
    policy = {"preset": preset}
    session = api.session(context_window=48_000, system="Be brief.", policy=policy, auto_compact=False)
    seen = set()
    turns = [said for n in range(20) for said in (user(f"{n} {WORDS}"), assistant(f"{n} {WORDS}"))]
    for _ in range(14):
        api.say(session, *turns)
        stats = api.get(f"{session}/stats")
        assert all(0 < stats[name] < 48_000 for name in ("trigger_tokens", "target_tokens"))
        is_over = stats["counted_tokens"] > stats["trigger_tokens"]
        assert stats["should_compact"] == (is_over or not stats["within_budget"])
        seen.add(is_over)
    assert seen == {False, True}


def test_an_exact_policy_counts_the_history_as_the_view_does(api: Api) -> None:
    session = api.session(system="Be brief.", auto_compact=False)
    api.fill(session, turns=2)
    stats = api.get(f"{session}/stats")
    fixed = stats["breakdown"]["system"]
    assert stats["counted_tokens"] == stats["breakdown"]["history"] == stats["estimated_input_tokens"] - fixed
    assert (stats["trigger_tokens"], stats["target_tokens"]) == (1008 - fixed, (1260 - fixed) // 2)
    call = api.post(f"{session}/budget", {"prompt": "And then?"})
    assert call["counted_tokens"] == stats["counted_tokens"] + call["breakdown"]["prompt"]


def test_no_trigger_is_reported_where_an_estimate_leaves_no_room_for_a_history(api: Api) -> None:
    # Long words that are one token each; by their length they take more than there is.
    session = api.session(context_window=4000, system=" international" * 1000, policy={"preset": "neurolink"})
    api.say(session, user("hello"))
    stats = api.get(f"{session}/stats")
    assert (stats["trigger_tokens"], stats["target_tokens"], stats["within_budget"]) == (None, None, True)
    assert not stats["should_compact"]


def test_statistics_may_be_those_of_another_model(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=5)
    stats = api.get(f"{session}/stats?model=openai/gpt-4o&max_output_tokens=28000")
    assert (stats["available_input_tokens"], stats["warning_level"]) == (100_000, "none")
    assert api.get(f"{session}/stats?max_output_tokens=1000")["available_input_tokens"] == 960
    assert api.problem("GET", f"{session}/stats?model=nobody/else")["name"] == "unknown-model"
    for query in ("max_output_tokens=0", "max_output_tokens=x", "max_output_tokens=2000"):
        assert api.problem("GET", f"{session}/stats?{query}")["name"] == "invalid-request"


def test_the_budget_of_a_pending_call_says_what_to_send_of_each_file(api: Api) -> None:
    session = api.session(context_window=16_000)
    api.fill(session, turns=4)
    files: list[Json] = [
        {"path": "a.txt", "content": "short\n"},
        {"path": "b.log", "size_bytes": 20_000_000},
        {"path": "c.py", "size_bytes": 30_000},
    ]
    call = api.post(f"{session}/budget", {"prompt": "Compare them.", "tools": [{"name": "look"}], "files": files})
    assert [file["path"] for file in call["files"]] == ["a.txt", "b.log", "c.py"]
    actions = {file["path"]: file["action"] for file in call["files"]}
    assert (actions["a.txt"], actions["b.log"]) == ("keep", "preview")
    assert call["within_budget"]
    assert call["breakdown"]["files"] == sum(file["tokens"] for file in call["files"])
    assert call["breakdown"]["tools"] > 0
    assert call["breakdown"]["prompt"] > 0
    assert call["estimated_input_tokens"] == sum(call["breakdown"].values())
    assert api.get(session)["version"] == 5


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"files": [{"path": "a"}]}, "files[0].size_bytes"),
        ({"files": [{"content": "a"}]}, "files[0].path"),
        ({"files": [{"path": "a", "size_bytes": -1}]}, "files[0].size_bytes"),
        ({"prompt": 5}, "prompt"),
    ],
)
def test_a_pending_call_of_the_wrong_shape_is_refused(api: Api, body: Json, path: str) -> None:
    for route in (f"{api.session()}/budget", "/budget"):
        model = {"model": "openai/gpt-4o"} if route == "/budget" else {}
        problem = api.problem("POST", route, {**model, **body})
        assert (problem["name"], problem["path"]) == ("invalid-request", path)


def test_entries_are_the_originals_with_tags_that_say_where_they_went(api: Api) -> None:
    session = api.session()
    api.fill(session)
    api.do_jobs()
    api.fill(session, turns=3)
    items = api.get(f"{session}/entries?limit=500")["items"]
    said = [item["message"] for item in items if item["kind"] == "message"]
    assert len(said) == api.get(session)["message_count"] == 34
    assert said[0]["content"].startswith("0 so it goes on")
    tags = {name for item in items for name in item["tags"]}
    assert {"condense_parent", "is_summary", "condense_id"} <= tags
    paged: list[Json] = []
    cursor = ""
    while True:
        page = api.get(f"{session}/entries?limit=7{cursor}")
        paged += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert paged == items
    assert api.get(f"{session}/entries/{items[3]['id']}") == items[3]


def test_pinned_text_is_in_every_view(api: Api) -> None:
    session = api.session()
    (entry,) = api.say(session, user("Always answer in rhyme."))["entry_ids"]
    api.say(session, assistant("Sure."))
    pin = api.post(f"{session}/pins", {"entry_id": entry}, 201)
    assert (pin["text"], pin["version"], pin["compaction"]) == ("Always answer in rhyme.", 4, None)
    other = api.post(f"{session}/pins", {"text": "Never guess."}, 201)
    api.fill(session)
    block = api.get(f"{session}/context")["messages"][0]
    assert block["role"] == "user"
    assert "Always answer in rhyme." in str(block["content"])
    assert "Never guess." in str(block["content"])
    page = api.get(f"{session}/pins?limit=1")
    assert [item["id"] for item in page["items"]] == [pin["id"]]
    assert [item["id"] for item in api.get(f"{session}/pins?cursor={page['next_cursor']}")["items"]] == [other["id"]]
    api.call("DELETE", f"{session}/pins/{pin['id']}", status=204)
    assert "rhyme" not in str(api.get(f"{session}/context")["messages"][0])


def test_pins_take_no_more_than_their_share(api: Api) -> None:
    session = api.session()
    problem = api.problem("POST", f"{session}/pins", {"text": "remember this " * 100})
    assert (problem["name"], problem["status"], problem["limit_tokens"]) == ("pin-too-large", 422, 126)
    assert problem["tokens"] > 126
    assert api.get(f"{session}/pins")["items"] == []


def test_models_and_presets_can_be_chosen_from(api: Api) -> None:
    models = api.get("/models?preset=foldline")["items"]
    assert len(models) == len(known_models())
    assert all(model["source"] for model in models)
    priced = next(model for model in models if model["model"] == "anthropic/claude-opus-4-5")
    assert priced["prices"] == {"input": 5, "cached_input": 0.5, "cache_write": 6.25, "output": 25}
    assert all(model["target_tokens"] < model["trigger_tokens"] < model["limit"] for model in models)
    assert [preset["preset"] for preset in api.get("/presets")["items"]] == list(PRESETS)
    assert api.problem("GET", "/models?preset=unheard-of")["path"] == "query.preset"


def test_messages_can_be_compacted_without_a_session(api: Api) -> None:
    messages = [message for number in range(20) for message in (user(f"{number} {WORDS}"), assistant(WORDS))]
    call: Json = {"model": "nobody/nothing", "context_window": 2000, "messages": messages}
    cheap = api.post("/compact", call)
    assert cheap["budget"]["fits"]
    assert (cheap["compacted"], cheap["stages_used"]) == (True, ["truncate"])
    summarized = api.post("/compact", {**call, "summarize": True})
    assert "summarize" in summarized["stages_used"]
    assert summarized["tokens_saved"] == summarized["tokens_before"] - summarized["tokens_after"] > 0
    assert (summarized["orphaned_calls_fixed"], summarized["orphaned_results_fixed"]) == (0, 0)
    assert api.post("/budget", call)["fits"] is False
    assert api.post("/budget", {**call, "messages": summarized["messages"]})["fits"] is True


def test_images_and_results_without_calls_are_put_right_without_a_session(api: Api) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture, picture]}]
    messages.append({"role": "tool", "tool_call_id": "gone", "content": "left over"})
    call: Json = {"model": "openai/gpt-4o", "messages": messages}
    mended = api.post("/compact", {**call, "max_images": 1})
    assert (mended["compacted"], mended["images_left_out"]) == (True, 1)
    assert (mended["orphaned_calls_fixed"], mended["orphaned_results_fixed"]) == (0, 1)
    whole = api.post("/compact", call)
    assert (whole["compacted"], whole["images_left_out"]) == (False, 0)
    assert api.problem("POST", "/compact", {**call, "max_images": -1})["path"] == "max_images"


def test_the_stateless_routes_refuse_what_the_others_refuse(api: Api) -> None:
    for route in ("/compact", "/budget"):
        assert api.problem("POST", route, {"model": "nobody/nothing", "messages": []})["name"] == "unknown-model"
        assert api.problem("POST", route, {"messages": []})["path"] == "context_window"
        wrong = api.problem("POST", route, {"model": "openai/gpt-4o", "messages": [{"role": "wizard"}]})
        assert (wrong["name"], wrong["path"]) == ("invalid-request", "messages[0].role")
        assert api.problem("POST", route, {"model": "openai/gpt-4o", "format": "x", "messages": []})["path"] == "format"
    big = api.problem("POST", "/compact", {"model": "openai/gpt-4", "messages": [], "system": "much " * 9000})
    assert big["name"] == "fixed-parts-do-not-fit"


@pytest.mark.parametrize("preset", PRESETS)
def test_the_ratio_says_what_should_compact_says(api: Api, preset: str) -> None:
    session = api.session(context_window=16_000, policy={"preset": preset}, auto_compact=False, system="Be brief.")
    answers = []
    for number in range(70):
        api.say(session, user(f"{number} " + "and so on it goes " * 40), assistant("It does."))
        stats = api.get(f"{session}/stats")
        answers.append(stats["should_compact"])
        assert stats["should_compact"] == (stats["usage_ratio"] > stats["trigger_ratio"])
    assert answers == sorted(answers)
    assert {*answers} == {False, True}
    asked = api.post(f"{session}/budget", {"threshold": 0.01})
    assert (asked["trigger_ratio"], asked["should_compact"]) == (0.01, True)


def test_a_threshold_of_a_call_takes_the_place_of_the_policys(api: Api) -> None:
    session = api.session(context_window=16_000)
    api.fill(session, 5)
    default = api.post(f"{session}/budget", {})
    assert (default["trigger_ratio"], default["should_compact"]) == (pytest.approx(0.8, abs=0.001), False)
    ratio = default["usage_ratio"]
    for threshold, should_compact in ((ratio * 0.9, True), (ratio * 1.1, False)):
        asked = api.post(f"{session}/budget", {"threshold": threshold})
        assert asked["should_compact"] is should_compact
        assert (asked["counted_tokens"] > asked["trigger_tokens"]) is should_compact
    again = api.post(f"{session}/budget", {"threshold": default["trigger_ratio"]})
    assert again["trigger_tokens"] == pytest.approx(default["trigger_tokens"], abs=5)


def test_files_get_a_share_of_what_the_rest_leaves(api: Api) -> None:
    session = api.session(context_window=16_000)
    files = [{"path": f"{number}.txt", "content": "some words " * 3_000} for number in range(4)]
    whole = api.post(f"{session}/budget", {"files": files})
    share = api.post(f"{session}/budget", {"files": files, "files_share": 0.6})
    room = whole["available_input_tokens"]
    assert 0.55 * room < share["breakdown"]["files"] <= 0.6 * room < whole["breakdown"]["files"] <= room
