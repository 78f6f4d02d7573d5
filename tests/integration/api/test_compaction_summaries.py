"""A compaction with its summary, and the entry behind each of its lines."""

from __future__ import annotations

from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.extractive import Extractive

from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, publish
from tests.support.processes.api import Api, Json, assistant, calling, result, user

RULE = "Never push to main."


def summarized(api: Api, session: str) -> Json:
    """The newest compaction, after everything older was summarized from the ledger."""
    api.post(f"{session}/compact", {"target_tokens": 700}, 202)
    while (claim := claims.claim(api.store, INTERACTIVE)) is not None:
        publish.publish(api.store, claim, Extractive().summarize(claim.request, Cancellation()))
    *_, newest = (made for made in api.get(f"{session}/compactions")["items"] if made["reason"] == "summary")
    answer: Json = api.get(f"{session}/compactions/{newest['id']}")
    return answer


def text_of(api: Api, session: str, entry_id: str) -> str:
    return str(api.get(f"{session}/entries/{entry_id}")["message"])


def test_each_line_names_the_entry_that_says_it(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.say(session, user(RULE), user("The invoices service listens on port 4111."))
    api.say(session, calling("c"), result("c", "the build failed"), assistant("The build is broken."))
    api.fill(session, turns=4)

    made = summarized(api, session)

    listed = next(item for item in api.get(f"{session}/compactions")["items"] if item["id"] == made["id"])
    assert {name: made[name] for name in listed} == listed
    assert made["in_view"]
    assert made["summary"] in str(api.get(f"{session}/context")["messages"]).replace("\\n", "\n")
    bullets = [line.removeprefix("- ") for line in made["summary"].split("\n") if line.startswith("- ")]
    assert [line["text"] for line in made["lines"]] == bullets
    kinds = {line["text"]: line["kind"] for line in made["lines"]}
    assert kinds[RULE] == "rule"
    entries = {line["text"]: line["entry_id"] for line in made["lines"]}
    assert text_of(api, session, entries[RULE]) == str(user(RULE))
    assert "port 4111" in text_of(api, session, entries["The invoices service listens on port 4111."])
    assert sum(counts["kept"] for counts in made["kinds"].values()) == len(made["lines"])


def test_lines_name_entries_of_their_own_branch(api: Api) -> None:
    session = api.session(auto_compact=False)
    said = api.say(session, user(RULE), assistant("Understood."))
    api.say(session, user("Never touch the left folder."), assistant("Understood."))
    api.fill(session, turns=3)
    left = summarized(api, session)
    api.post(f"{session}/branch", {"entry_id": said["entry_ids"][-1]})
    api.say(session, user("Never touch the right folder."), assistant("Understood."))
    api.fill(session, turns=3)

    right = summarized(api, session)

    entries = {line["text"]: line["entry_id"] for line in right["lines"]}
    assert entries[RULE] == said["entry_ids"][0]
    assert text_of(api, session, entries["Never touch the right folder."]) == str(user("Never touch the right folder."))
    assert "Never touch the left folder." not in entries
    assert "Never touch the left folder." in {line["text"] for line in left["lines"]}
    assert api.problem("GET", f"{session}/compactions/{left['id']}")["name"] == "not-found"


def test_a_later_summary_names_the_entries_of_the_first_and_takes_its_place(api: Api) -> None:
    session = api.session(auto_compact=False)
    said = api.say(session, user(RULE), assistant("Understood."))
    api.fill(session, turns=3)
    first = summarized(api, session)
    api.fill(session, turns=3)

    second = summarized(api, session)

    assert (first["in_view"], second["in_view"]) == (True, True)
    assert {line["text"]: line["entry_id"] for line in second["lines"]}[RULE] == said["entry_ids"][0]
    again = api.get(f"{session}/compactions/{first['id']}")
    assert (again["live"], again["in_view"]) == (True, False)
    api.post(f"{session}/compactions/{second['id']}/undo")
    undone = api.get(f"{session}/compactions/{second['id']}")
    assert (undone["live"], undone["in_view"]) == (False, False)


def test_a_summary_that_was_not_made_of_the_ledger_has_no_lines(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=4)
    api.post(f"{session}/compact", None, 202)
    api.do_jobs("They talked.")

    (listed,) = api.get(f"{session}/compactions")["items"]
    made = api.get(f"{session}/compactions/{listed['id']}")
    assert (made["summary"], made["in_view"], made["lines"], made["kinds"]) == ("They talked.", True, None, None)


def test_a_compaction_without_a_summary_has_none(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.say(session, user("look"), calling("c1"), result("c1", "seen " * 300))
    api.fill(session, turns=4)
    api.post(f"{session}/compact", {"target_tokens": 100, "stages": ["prune"]})

    (listed,) = api.get(f"{session}/compactions")["items"]
    made = api.get(f"{session}/compactions/{listed['id']}")
    assert (made["stages_used"], made["summary"], made["in_view"], made["lines"]) == (["prune"], None, False, None)


def test_a_compaction_that_hides_messages_has_its_interim_summary(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=4)
    api.post(f"{session}/compact", {"target_tokens": 600, "stages": ["truncate"]}, 202)

    (listed,) = api.get(f"{session}/compactions")["items"]
    made = api.get(f"{session}/compactions/{listed['id']}")
    assert made["in_view"]
    assert made["summary"] in str(api.get(f"{session}/context?format=anthropic")["messages"][0]["content"][1]["text"])
    assert made["lines"][0]["entry_id"].startswith("e0-")


def test_what_is_no_compaction_is_not_found(api: Api) -> None:
    session = api.session()
    said = api.say(session, user("hello"))
    for name in (*said["entry_ids"], "e0-9", "e0-0", "none", "e0-99999999999"):
        assert api.problem("GET", f"{session}/compactions/{name}")["name"] == "not-found"
