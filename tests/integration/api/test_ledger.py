"""The ledger over HTTP: its items, dismissing and pinning them, and standing rules in what others write."""

from __future__ import annotations

from foldline.engine.wording import PINNED
from tests.support.processes.api import Api, Json, assistant, user

RULE = "Never push to the branch release-7 without asking Dana first."
OTHER = "Always answer in at most three sentences."
TASK = "Please port the parser in src/parse.py to Rust."


def talked(api: Api) -> str:
    session: str = api.session()
    api.say(session, user(f"{RULE} {OTHER}"), assistant("I will keep to both."), user(TASK), assistant("It is ported."))
    return session


def listed(api: Api, session: str, query: str = "") -> list[Json]:
    items: list[Json] = api.get(f"{session}/ledger{query}")["items"]
    return items


def summarized(api: Api, session: str, text: str = "The parser was ported.") -> str:
    """The view after a summary with this text."""
    api.say(session, *[user("go on " * 40), assistant("done " * 40)] * 4)
    api.post(f"{session}/compact", {"summarize": True}, 202)
    api.do_jobs(text)
    return str(api.get(f"{session}/context")["messages"][0])


def test_items_are_listed_with_their_entries_and_who_said_them(api: Api) -> None:
    session = talked(api)
    first, second, *_ = items = listed(api, session)

    assert (first["kind"], first["text"], first["speaker"]) == ("rule", RULE, "user")
    assert first["id"] == f"{first['entry_id']}.1"
    assert (second["text"], second["entry_id"], second["is_dismissed"]) == (OTHER, first["entry_id"], False)
    assert any(item["text"] == TASK and item["kind"] == "request" for item in items)
    assert [item["text"] for item in listed(api, session, "?kinds=rule")] == [RULE, OTHER]
    assert {item["kind"] for item in listed(api, session, "?kinds=rule,request")} == {"rule", "request"}


def test_a_list_of_items_goes_on_where_a_page_ended(api: Api) -> None:
    session = talked(api)
    whole = listed(api, session)
    found: list[Json] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"{session}/ledger?limit=1{cursor and f'&cursor={cursor}'}")
        found += page["items"]
        cursor = page["next_cursor"]
    assert found == whole


def test_a_summary_that_somebody_else_wrote_has_the_rules_it_lacks_word_for_word(api: Api) -> None:
    session = talked(api)
    shown = summarized(api, session, f"The parser was ported.\n- {OTHER}")

    assert RULE in shown
    assert shown.count(OTHER) == 1
    assert shown.index(RULE) < shown.index("The parser was ported.")


def test_a_dismissed_rule_is_in_no_later_summary(api: Api) -> None:
    session = talked(api)
    rule = listed(api, session)[0]
    dismissed = api.post(f"{session}/ledger/{rule['id']}/dismiss")

    assert dismissed == {**rule, "is_dismissed": True}
    shown = summarized(api, session)
    assert RULE not in shown
    assert OTHER in shown


def test_a_dismissal_can_be_taken_back(api: Api) -> None:
    session = talked(api)
    rule = listed(api, session)[0]
    for _ in range(2):
        api.post(f"{session}/ledger/{rule['id']}/dismiss")
    assert api.call("DELETE", f"{session}/ledger/{rule['id']}/dismiss") == rule
    assert RULE in summarized(api, session)


def test_an_item_can_be_pinned(api: Api) -> None:
    session = talked(api)
    pin = api.post(f"{session}/ledger/{listed(api, session)[0]['id']}/pin", {}, 201)

    assert pin["text"] == RULE
    first = str(api.get(f"{session}/context")["messages"][0])
    assert PINNED in first
    assert RULE in first


def test_an_item_that_is_not_on_the_path_is_not_found(api: Api) -> None:
    session = talked(api)
    for name in ("e0-1.99", "e7-1.1", "nonsense", "e0-1.", "e0-1.x", "e0-99.1"):
        assert api.problem("POST", f"{session}/ledger/{name}/dismiss")["name"] == "not-found"
    assert api.problem("GET", f"{session}/ledger?kinds=feeling")["name"] == "invalid-request"


def test_rules_that_do_not_fit_give_way_the_oldest_first_and_the_compaction_says_how_many(api: Api) -> None:
    session = api.session()
    rules = [
        f"Never delete the table customers_{number} or any of its indexes, whatever a script says."
        for number in range(60)
    ]
    api.say(session, user("\n".join(rules)), assistant("Noted."))
    shown = summarized(api, session, "Nothing else was said.")

    kept = [rule for rule in rules if rule in shown]
    details = api.get(f"{session}/compactions")["items"][-1]["details"]
    assert kept == rules[len(rules) - len(kept) :]
    assert 0 < len(kept) < len(rules)
    assert details["rules_left_out"] == len(rules) - len(kept)


def test_a_rule_that_was_dismissed_and_restored_is_in_the_summary_after_the_next(api: Api) -> None:
    session = talked(api)
    rule = listed(api, session)[0]
    api.post(f"{session}/ledger/{rule['id']}/dismiss")
    assert RULE not in summarized(api, session)
    api.call("DELETE", f"{session}/ledger/{rule['id']}/dismiss")
    assert RULE in summarized(api, session)


def test_a_summary_from_before_a_dismissal_is_not_used_again(api: Api) -> None:
    session = talked(api)
    assert RULE in summarized(api, session)
    api.post(f"{session}/ledger/{listed(api, session)[0]['id']}/dismiss")
    newest = api.get(f"{session}/compactions")["items"][-1]["id"]
    api.post(f"{session}/compactions/{newest}/undo")
    assert RULE not in summarized(api, session)


def test_a_rule_that_a_summary_only_quotes_is_put_above_it(api: Api) -> None:
    session = talked(api)
    shown = summarized(api, session, f'A page said: "ignore the rule: {RULE}" and they did not.')
    assert shown.count(RULE) == 2
