"""Recall on each kind of database: what is found, and what never is."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, update

from foldline.engine.ledger.items import ItemKind
from foldline.engine.recall.passages import IndexText
from foldline.engine.recall.quoting import NOTHING
from foldline.engine.recall.visibility import OutOfView
from foldline.log.errors import NotFound
from foldline.log.jobs import indexing, sweeps
from foldline.log.storage import passages
from foldline.log.storage.passages import PASSAGE, Indexed, Place
from foldline.log.storage.store import Store
from foldline.log.storage.tables import ENTRY
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.finding import recall as use_case
from foldline.log.use_cases.finding.recall import Recalled, RecallRequest
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, assistant, calls, result, user, words

HOSTILE = (
    "",
    '"',
    "'",
    "\"port' OR 1=1 --",
    "port AND NOT (server",
    "port* NEAR(server, 5) ^port terms:port",
    "'port' & !'server' | ( <-> :*",
    "\0port\0",
    "\ud800 port",
    "port " * 20_000,
    "p" * 100_000,
    "数据" * 50_000,
    "\\ % _ ; \x1a \u2028",
)


def recall(scene: Scene, query: str, *kinds: ItemKind, max_tokens: int = 2_000) -> Recalled:
    return use_case.recall(scene.store, scene.tenant, scene.id, RecallRequest(query, max_tokens, frozenset(kinds)))


def found(scene: Scene, query: str, *kinds: ItemKind) -> list[str]:
    """The ids of the entries that are found."""
    return [passage.source.entry_id for passage in recall(scene, query, *kinds).quotes.passages]


def say(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def fold(scene: Scene) -> None:
    """Put all but the newest message out of view, under a summary."""
    scene.append(assistant(150), assistant(150), user(300))
    scene.compact(target_tokens=330)
    scene.work()
    assert scene.layout[-1] == f"user {scene.path.last_message_seq}"
    assert all(line.startswith(("summary", "hidden")) for line in scene.layout[:-1])


@pytest.fixture
def folded(scene: Scene) -> Scene:
    scene.append(
        *say(
            "The server listens on port 5432.",
            "创建一个新的数据库连接",
            "See src/foo_bar.py, it fails with ERR-1234.",
            "Never push to the main branch.",
        ),
        calls("c1", name="read_file", arguments='{"path": "conf/app.toml"}'),
        {"role": "tool", "tool_call_id": "c1", "content": "color = teal\nsize = 12"},
    )
    fold(scene)
    return scene


@pytest.mark.parametrize(
    ("query", "entry_id"),
    [
        ("Which port does the server use?", "e0-1"),
        ("数据库", "e0-2"),
        ("foo_bar.py", "e0-3"),
        ("src/foo_bar.py", "e0-3"),
        ("foo bar", "e0-3"),
        ("ERR-1234", "e0-3"),
        ("err-1234?", "e0-3"),
        ("what color was it", "e0-6"),
    ],
)
def test_words_names_and_unspaced_scripts_are_found(folded: Scene, query: str, entry_id: str) -> None:
    assert found(folded, query)[0] == entry_id


def test_of_two_who_index_the_same_entries_one_writes_each(scene: Scene) -> None:
    scene.append(*say("one", "two", "three", "four", "five"))
    pk, branch = scene.path.session.pk, scene.path.branch
    entries = [Indexed(Place(branch, seq), IndexText((f"term{seq}", "other"), 0)) for seq in range(1, 6)]
    with scene.store.write() as tx:
        assert passages.add_missing(tx, scene.path.session, entries[:3]) == 3
    with scene.store.write() as tx:
        assert passages.add_missing(tx, scene.path.session, entries[1:]) == 2
    with scene.store.read() as tx:
        rows = tx.execute(select(func.count()).select_from(PASSAGE).where(PASSAGE.c.session_pk == pk)).scalar_one()
        marked = tx.execute(select(func.sum(ENTRY.c.passages)).where(ENTRY.c.session_pk == pk)).scalar_one()
    assert rows == marked == 10


def test_an_entry_that_cannot_be_read_hides_none_beside_it(folded: Scene) -> None:
    with folded.store.write() as tx:
        tx.execute(update(ENTRY).where(ENTRY.c.seq == 4).values(body=b"no JSON", ledger=None))
    assert recall(folded, "port of the server").is_complete
    assert found(folded, "Which port does the server use?")[0] == "e0-1"
    assert found(folded, "foo_bar.py")[0] == "e0-3"
    with folded.store.read() as tx:
        assert tx.execute(select(ENTRY.c.passages).where(ENTRY.c.seq == 4)).scalar_one() == 0
        assert tx.execute(select(ENTRY.c.ledger).where(ENTRY.c.seq == 3)).scalar_one() is not None


def test_what_is_in_view_whole_is_not_found(scene: Scene) -> None:
    scene.append(*say("The server listens on port 5432."))
    assert found(scene, "port 5432") == []
    assert recall(scene, "port 5432").quotes.text == NOTHING
    fold(scene)
    assert found(scene, "port 5432") == ["e0-1"]
    scene.undo(scene.live[0])
    assert found(scene, "port 5432") == []


def test_a_cleared_result_is_found_with_its_call_before_it(scene: Scene) -> None:
    scene.append(
        user(5), calls("c1", name="read_file", arguments='{"path": "a.toml"}'),
        {"role": "tool", "tool_call_id": "c1", "content": "color = teal " + words(400)}, user(5),
        *[{"role": "assistant", "content": words(100)}] * 2,
    )  # fmt: skip
    scene.compact(stages=["prune"], target_tokens=300, summarize=False)
    (passage,) = recall(scene, "which color").quotes.passages
    assert passage.out_of_view is OutOfView.CLEARED
    assert (passage.source.said_by, passage.source.tool) == ("tool", "read_file")
    assert passage.before is not None
    assert (passage.before.source.entry_id, passage.before.text) == ("e0-2", "read_file path: a.toml")


def test_an_answer_is_found_with_its_question_before_it(scene: Scene) -> None:
    scene.append(*say("What is the cause?"), {"role": "assistant", "content": "It was a wrong certificate."})
    fold(scene)
    (passage,) = recall(scene, "certificate").quotes.passages
    assert passage.out_of_view is OutOfView.SUMMARIZED
    assert passage.before is not None
    assert (passage.before.source.said_by, passage.before.text) == ("user", "What is the cause?")


def test_kinds_restrict_a_recall_to_items_of_the_ledger(folded: Scene) -> None:
    assert found(folded, "push port main branch")[:1] == ["e0-4"]
    (passage,) = recall(folded, "push port main branch", ItemKind.RULE).quotes.passages
    assert (passage.source.entry_id, passage.kind) == ("e0-4", ItemKind.RULE)
    assert passage.text == "Never push to the main branch."


@pytest.mark.parametrize("query", HOSTILE)
def test_a_hostile_query_finds_what_its_words_find_and_breaks_nothing(folded: Scene, query: str) -> None:
    quotes = recall(folded, query, max_tokens=100).quotes
    assert quotes.tokens <= 100
    if "port" in query[:100]:
        assert [passage.source.entry_id for passage in quotes.passages] == ["e0-1"]


def test_another_session_tenant_or_branch_is_never_found(new_scene: NewScene) -> None:
    mine, other, theirs = new_scene(), new_scene(id="other"), new_scene(tenant="rival")
    first = mine.append(*say("Hello.")).entry_ids[0]
    mine.append(*say("The secret is teal."))
    fold(mine)
    for scene in (other, theirs):
        scene.append(*say("Nothing is teal."))
        fold(scene)
    assert found(mine, "teal") == ["e0-2"]
    assert found(other, "teal") == found(theirs, "teal") == ["e0-1"]
    mine.move(first)
    assert found(mine, "teal") == []
    mine.append(*say("This branch is green."))
    fold(mine)
    assert found(mine, "teal green") == ["e1-2"]


def test_a_deleted_session_is_not_found_and_leaves_no_rows(store: Store) -> None:
    gone, stays = Scene(store), Scene(store, id="stays")
    for scene in (gone, stays):
        scene.append(*say("The server listens on port 5432."))
        fold(scene)
    pk = gone.path.session.pk
    with store.write() as tx:
        lifecycle.delete(tx, gone.tenant, gone.id)
    with pytest.raises(NotFound):
        recall(gone, "port")
    sweeps.sweep(store)
    with store.read() as tx:
        left = set(tx.execute(select(PASSAGE.c.session_pk)).scalars())
        entries = tx.execute(select(func.count()).select_from(ENTRY).where(ENTRY.c.session_pk == pk)).scalar_one()
    assert (left, entries) == ({stays.path.session.pk}, 0)
    assert found(stays, "port") == ["e0-1"]


def test_a_sweep_indexes_what_was_appended(folded: Scene) -> None:
    with folded.store.read() as tx:
        before = set(tx.execute(select(PASSAGE.c.seq)).scalars())
    sweeps.sweep(folded.store)
    with folded.store.read() as tx:
        indexed = set(tx.execute(select(PASSAGE.c.seq)).scalars())
        left = tx.execute(select(func.count()).select_from(ENTRY).where(ENTRY.c.passages.is_(None))).scalar_one()
    assert (before, indexed, left) == (set(), set(range(1, 10)), 0)


def test_an_append_finds_the_items_of_what_it_may_hide_at_once_and_a_sweep_those_of_the_newest(scene: Scene) -> None:
    scene.append(*({"role": "user", "content": f"Never push to branch {number}."} for number in range(10)))

    def with_items() -> list[int]:
        found = select(ENTRY.c.seq).where(ENTRY.c.ledger.is_not(None)).order_by(ENTRY.c.seq)
        with scene.store.read() as tx:
            return list(tx.execute(found).scalars())

    assert with_items() == [1, 2]
    sweeps.sweep(scene.store)
    assert with_items() == list(range(1, 11))


def test_a_sweep_rests_after_each_piece_of_its_index(scene: Scene) -> None:
    scene.append(*({"role": "user", "content": f"Note {number}."} for number in range(2 * indexing.AT_ONCE)))
    rests: list[float] = []
    sweeps.sweep(scene.store, rests.append)
    assert len(rests) == 2
    assert min(rests) > 0


def as_an_earlier_version(scene: Scene) -> None:
    """Leave the session as if nothing of it had been indexed when it was written."""
    with scene.store.write() as tx:
        tx.execute(update(ENTRY).values(passages=None, ledger=None))
        tx.execute(PASSAGE.delete())


def test_entries_of_an_earlier_version_are_indexed_by_the_first_recall(folded: Scene) -> None:
    as_an_earlier_version(folded)
    assert found(folded, "push", ItemKind.RULE) == ["e0-4"]
    with folded.store.read() as tx:
        indexed = set(tx.execute(select(PASSAGE.c.seq)).scalars())
        rows = tx.execute(select(func.count()).select_from(PASSAGE)).scalar_one()
        noted = tx.execute(select(func.sum(ENTRY.c.passages))).scalar_one()
    assert (indexed, rows) == (set(range(1, 10)), noted)
    assert found(folded, "数据库") == ["e0-2"]


def test_one_recall_indexes_a_bounded_number_of_entries(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "MOST_INDEXED", 2 * indexing.AT_ONCE)
    scene.append(*say("The port is 5432."), *[user(1)] * (2 * indexing.AT_ONCE))
    fold(scene)
    as_an_earlier_version(scene)
    assert not recall(scene, "port").is_complete
    assert recall(scene, "port").is_complete


def test_one_recall_indexes_a_bounded_number_of_bytes(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BYTES_AT_ONCE", 10_000)
    monkeypatch.setattr(use_case, "MOST_BYTES_INDEXED", 20_000)
    scene.append(*say(*(f"The port is {number}. {'word ' * 1_000}" for number in range(20))))
    fold(scene)
    as_an_earlier_version(scene)
    recalled = [recall(scene, "port").is_complete for _ in range(6)]
    assert recalled == [*[False] * 4, True, True]


def test_a_recall_leaves_the_largest_entries_to_the_sweep(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "LARGEST_INDEXED", 10_000)
    scene.append(*say("The port is 5432.", f"The port is {'large ' * 2_000}"))
    fold(scene)
    as_an_earlier_version(scene)
    for _ in range(2):
        recalled = recall(scene, "port")
        assert "5432" in recalled.quotes.text
        assert "large" not in recalled.quotes.text
        assert not recalled.is_complete
    indexing.index_waiting(scene.store, 100, lambda _seconds: None)
    recalled = recall(scene, "port")
    assert "large" in recalled.quotes.text
    assert recalled.is_complete


def test_beside_the_best_entry_a_bounded_number_of_bytes_is_read(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    large = f"port port {'large ' * 2_000}"
    scene.append(*say("The port is 5432.", "A port was closed.", f"The {large}", f"One {large}"))
    fold(scene)
    assert sorted(found(scene, "port")) == ["e0-1", "e0-2", "e0-3", "e0-4"]
    (best, *_) = found(scene, "port large")
    assert best in {"e0-3", "e0-4"}
    for most in (200, 10_000):
        monkeypatch.setattr(use_case, "MOST_BYTES_READ", most)
        # The best one is read whatever its size, and what has no room does not keep small ones out.
        assert sorted(found(scene, "port large")) == ["e0-1", "e0-2", best]
    # What the best one takes is not taken from the others.
    monkeypatch.setattr(use_case, "MOST_BYTES_READ", 13_000)
    assert len(found(scene, "port large")) == 4


def test_a_neighbour_without_room_is_left_out(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(
        *say(f"What is the cause? {'large ' * 2_000}"), {"role": "assistant", "content": "A wrong certificate."}
    )
    fold(scene)
    (passage,) = recall(scene, "certificate").quotes.passages
    assert passage.before is not None
    monkeypatch.setattr(use_case, "MOST_BYTES_READ", 10_000)
    (passage,) = recall(scene, "certificate").quotes.passages
    assert passage.text == "A wrong certificate."
    assert passage.before is None


def test_a_repeated_text_is_given_back_once(scene: Scene) -> None:
    scene.append(*[part for number in range(4) for part in (calls(f"c{number}"), result(f"c{number}", 3))])
    scene.append(*say("The port is 5432.", "The port is 5432.", "The port is closed."))
    fold(scene)
    assert found(scene, "port is") == ["e0-11", "e0-10"]
