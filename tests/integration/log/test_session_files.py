"""Session files of pi, into the log and out of it again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

import pytest
from sqlalchemy import event, func, select
from sqlmodel import SQLModel

from foldline.engine import wording
from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.session_files import pi
from foldline.engine.session_files.pi import MalformedLine
from foldline.engine.wire import DEPTH_MAX
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.errors import Conflict, NotFound
from foldline.log.storage import segments
from foldline.log.storage.entry_log import SUMMARY_FACTS_KEY
from foldline.log.storage.store import Store
from foldline.log.transfer.exporting import export_session
from foldline.log.transfer.importing import import_session
from foldline.log.transfer.prepared import prepare
from foldline.log.use_cases import compact, entries, history
from foldline.log.use_cases.entries import Entry
from tests.support.function_calls import calls_in
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Scene, assert_consistent, assistant, batch, turns
from tests.support.log.sessions import user as says
from tests.support.pi_files import (
    TIME,
    Imported,
    Json,
    answer,
    bare,
    bash,
    branch_summary,
    chain,
    compaction,
    entry,
    entry_ids,
    exported,
    file_of,
    first_version,
    lines_of,
    model_change,
    names_in,
    note,
    said,
    seen,
    shown_at_leaves,
    user,
)
from tests.support.pi_files import result as answered
from tests.support.transcripts import PNG

Import: TypeAlias = Callable[..., Imported]

TALK = [user("u1"), answer("a1", "c1"), answered("r1", "c1"), answer("a2"), user("u2"), answer("a3")]
SUMMED_UP = chain(*TALK, compaction("k", "u2"), user("u3"))
# As version 1 had it, which counted entries from the header on.
FIRST_COMPACTION = entry("compaction", "k", summary="k", firstKeptEntryIndex=5, tokensBefore=9)


@pytest.fixture
def import_file(store: Store) -> Import:
    def make(entries: list[Json], **more: Any) -> Imported:
        return Imported(store, file=file_of(entries), **more)

    return make


def names(scene: Scene) -> list[str]:
    """The entries in the view at the head."""
    return names_in(seen(scene), entry_ids(scene))


def listed(scene: Scene) -> list[Entry]:
    with scene.store.read() as tx:
        return entries.entries(tx, TENANT, scene.id, 0, 1000).items


def compactions(scene: Scene) -> list[Compaction]:
    with scene.store.read() as tx:
        return history.compactions(tx, TENANT, scene.id)


def context_tokens(scene: Scene) -> int:
    with scene.store.read() as tx:
        return compact.cut(tx, TENANT, scene.id, SummaryRequest(is_asked=True)).context_tokens


def rows(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    with store.read() as tx:
        tables = SQLModel.metadata.tables.values()
        return {table.name: tx.execute(select(func.count()).select_from(table)).scalar_one() for table in tables}


def test_a_file_becomes_a_session(store: Store) -> None:
    file = pi.read(file_of([*SUMMED_UP, *chain(branch_summary("b", "a3"), model_change("m"), after="a1")]))
    with store.write() as tx:
        made = import_session(tx, TENANT, {}, prepare(file))
    session = made.path.session
    assert (made.entries, made.messages, made.branches, made.compactions) == (10, 7, 2, 1)
    assert (session.id, session.model, session.policy.preset) == ("s", "openai/gpt-4o-mini", "pi")
    assert (session.branches, session.head, made.path.messages) == (2, 1, 2)


def test_entries_keep_what_they_are_and_when_they_were(import_file: Import, store: Store) -> None:
    undated = [{**user(name), "timestamp": time} for name, time in (("x", "yesterday"), ("y", None), ("z", 7))]
    said_so = chain(*TALK, *undated)
    found = listed(import_file(said_so))
    assert [(each.id, each.kind, each.format) for each in found[:2]] == [
        ("e0-1", "message", "pi"),
        ("e0-2", "message", "pi"),
    ]
    assert [each.body for each in found] == said_so
    then, now = (int(datetime.fromisoformat(at).timestamp() * 1000) for at in (TIME, "2030-01-01T00:00:00Z"))
    assert [each.created_at for each in found] == [then] * len(TALK) + [now] * 3


def test_summaries_keep_when_they_were_made(import_file: Import) -> None:
    scene = import_file(chain(*TALK, compaction("k", "u2"), branch_summary("b")))
    assert len({each.created_at for each in listed(scene)}) == 1


@pytest.mark.parametrize("origin", ["a text", {"id": "forged", "type": "message"}])
def test_what_a_message_says_of_its_origin_is_its_own(new_scene: NewScene, origin: Any) -> None:
    scene = new_scene()
    scene.append({"role": "user", "content": "hello", "origin": origin})
    _, line = lines_of(exported(scene))
    assert (line["id"], line["message"]["content"]) == ("e0-1", "hello")
    assert_shows_the_same(scene)


@pytest.mark.parametrize("version", [2, 3])
def test_versions_with_ids_come_out_as_they_were(store: Store, version: int) -> None:
    file = file_of(SUMMED_UP, version=version)
    scene = Imported(store, file=file)
    assert lines_of(exported(scene)) == lines_of(file)
    assert names(scene) == ["k", "u2", "a3", "u3"]


def test_the_first_version_comes_out_as_it_was(store: Store) -> None:
    file = first_version([*TALK, FIRST_COMPACTION, user("u3")])
    scene = Imported(store, file=file)
    assert lines_of(exported(scene)) == lines_of(file)
    assert names_in(seen(scene), {"k", *(each["id"] for each in SUMMED_UP)}) == ["k", "u2", "a3", "u3"]


@pytest.mark.parametrize(
    ("first_kept", "shown"),
    [
        ("u2", ["k", "u2", "a3", "u3"]),
        ("r1", ["k", "a1", "r1", "a2", "u2", "a3", "u3"]),
        ("k", ["k", "u3"]),
        ("u1", ["k", "u1", "a1", "r1", "a2", "u2", "a3", "u3"]),
        ("nowhere", ["k", "u1", "a1", "r1", "a2", "u2", "a3", "u3"]),
        (None, ["k", "u1", "a1", "r1", "a2", "u2", "a3", "u3"]),
    ],
)
def test_a_summary_is_in_the_place_of_what_its_compaction_does_not_keep(
    import_file: Import, first_kept: str | None, shown: list[str]
) -> None:
    assert names(import_file(chain(*TALK, compaction("k", first_kept), user("u3")))) == shown


def test_an_entry_of_another_branch_says_nothing_of_what_is_kept(import_file: Import) -> None:
    tree = [*chain(user("u1"), answer("a1")), *chain(user("u2"), after="u1"), *chain(compaction("k", "u2"), after="a1")]
    assert names(import_file(tree)) == ["k", "u1", "a1"]


def test_a_later_summary_takes_up_the_one_before(import_file: Import) -> None:
    later = [compaction("l", "u1"), user("u4"), compaction("m", "u4"), user("u5")]
    tree = [*SUMMED_UP, *chain(*later, after="u3"), *chain(answer("a4"), after="l")]
    scene = import_file(tree)
    places = entry_ids(scene)
    assert names(scene) == ["l", "u2", "a3", "u3", "a4"]
    scene.move(places["u5"])
    assert names(scene) == ["m", "u4", "u5"]
    assert [each.is_live for each in compactions(scene)] == [True] * 3


@pytest.mark.parametrize("first_kept", ["k", None])
def test_a_summary_may_stand_before_all_entries(import_file: Import, first_kept: str | None) -> None:
    scene = import_file([*chain(compaction("k", first_kept), user("u1")), *chain(compaction("l", "k"), user("u2"))])
    assert names(scene) == ["l", "u2"]
    scene.move(entry_ids(scene)["u1"])
    assert names(scene) == ["k", "u1"]


def test_what_follows_an_imported_compaction_is_counted(import_file: Import) -> None:
    assert_consistent(import_file(SUMMED_UP))


def test_the_facts_of_a_compactions_summary_are_in_the_list(import_file: Import) -> None:
    noted = {"details": {"readFiles": ["b"], "modifiedFiles": ["x"]}}
    listed = compactions(
        import_file(chain(*TALK, compaction("k", "u2", **noted), compaction("l", None, fromHook=True)))
    )
    assert [(each.reason, each.stages_used, each.report) for each in listed] == [("imported", ["summarize"], {})] * 2
    assert listed[0].summary_facts == {
        "first_kept_entry_id": "e0-5",
        "details": {"read_files": ["b", "c1"], "modified_files": ["x"]},
        "from_hook": None,
    }
    assert listed[1].summary_facts["from_hook"] == "extension"
    assert listed[0].tokens_before > listed[0].tokens_after


def test_a_branch_summary_names_the_entry_that_was_left(import_file: Import) -> None:
    noted = {"details": {"readFiles": ["b"]}, "fromHook": False}
    left = [branch_summary("x", "a3", **noted), branch_summary("y", "root", fromHook=True), branch_summary("z", "x")]
    scene = import_file([*chain(*TALK), *chain(*left, after="u1")])
    found = [each.body for each in listed(scene)[1:]]
    assert [each["from"] for each in found] == ["e0-6", None, "e1-2"]
    assert [each["from_hook"] for each in found] == [None, "extension", None]
    assert found[0]["details"] == {"read_files": ["b"], "modified_files": []}
    assert names(scene) == ["u1", "x", "y", "z"]
    assert all(wording.BRANCH in str(message["content"]) for message in scene.wire()[1:])


def test_what_no_model_sees_is_listed_and_never_in_view(import_file: Import) -> None:
    unseen = [
        model_change("m"),
        bash("b", is_excluded=True),
        entry("label", "l", label="here"),
        entry("new", "n", x=[1]),
    ]
    scene = import_file(chain(user("u1"), *unseen, note("note"), bash("shell")))
    assert [each.kind for each in listed(scene)] == ["message", *["other"] * 4, *["message"] * 2]
    assert names(scene) == ["u1", "note", "shell"]
    scene.move(entry_ids(scene)["n"])
    assert names(scene) == ["u1"]


def test_what_a_file_has_under_a_name_of_ours_is_nothing_of_ours(import_file: Import) -> None:
    ours = {"edits": [["condense", 1]], SUMMARY_FACTS_KEY: 7, "origin": "x"}
    unseen = entry("new", "n", **ours, body=None)
    (first, second) = listed(import_file(chain(user("u1"), unseen)))
    assert (first.tags, second.tags, second.summary) == ({}, {}, None)
    assert second.body == {**unseen, "parentId": "u1"}


def test_a_page_of_entries_reads_all_its_summaries_at_once(import_file: Import) -> None:
    later = [compaction("l", "u1"), branch_summary("b"), user("u4"), compaction("m", "u4"), user("u5")]
    scene = import_file([*SUMMED_UP, *chain(*later, after="u3")])
    read: list[str] = []
    event.listen(scene.store.engine, "before_cursor_execute", lambda *at: read.append(at[2]))
    with scene.store.write() as tx:
        found = entries.entries(tx, TENANT, scene.id, 0, 1000).items
    assert [each.summary for each in found if each.summary] == ["k", "l", "b", "m"]
    assert sum("FROM summary" in statement for statement in read) == 1


@pytest.mark.parametrize("first_kept", ["unknown", "u5"])
def test_a_compaction_costs_the_same_however_much_it_keeps(store: Store, first_kept: str) -> None:
    def calls(count: int) -> int:
        compactions = [compaction(f"k{number}", first_kept) for number in range(count)]
        file = file_of(chain(*(user(f"u{number}") for number in range(count)), *compactions))
        return calls_in(lambda: Imported(store, id=f"s{count}", file=file))

    calls(8)
    assert calls(200) < 6 * calls(50)


def test_the_way_to_the_root_costs_the_same_however_many_branches_leave_it(store: Store) -> None:
    def calls(count: int) -> int:
        branches = [chain(user(f"u{number}"), after="root") for number in range(count)]
        file = file_of([*chain(user("root")), *(each for branch in branches for each in branch)])
        scene = Imported(store, id=f"s{count}", file=file)
        path = scene.path
        with store.read() as tx:
            return calls_in(lambda: segments.segments(tx, path))

    calls(8)
    assert calls(200) < 1.2 * calls(10)


def test_an_export_takes_as_many_statements_however_many_branches_there_are(store: Store) -> None:
    read: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *at: read.append(at[2]))

    def statements(count: int) -> int:
        # Each branch leaves the one before it at its first entry.
        branches = [chain(user(f"u{at}"), user(f"v{at}"), after=f"u{at - 1}" if at else None) for at in range(count)]
        scene = Imported(store, id=f"s{count}", file=file_of([each for branch in branches for each in branch]))
        scene.append(says(5))
        with store.write() as tx:
            before = len(read)
            export_session(tx, TENANT, scene.id)
            return len(read) - before

    assert statements(2) == statements(12)


def test_every_branch_and_root_can_be_gone_to(import_file: Import) -> None:
    tree = [
        *chain(*TALK),
        *chain(user("x1"), answer("x2")),
        *chain(user("y1"), after="a2"),
        *chain(note("z"), after="y1"),
    ]
    scene = import_file(tree)
    assert names(scene) == ["u1", "a1", "r1", "a2", "y1", "z"]
    places = entry_ids(scene)
    for leaf, shown in (("x2", ["x1", "x2"]), ("a3", [each["id"] for each in TALK])):
        scene.move(places[leaf])
        assert names(scene) == shown
    assert scene.path.session.branches == 3


def test_what_a_provider_reported_counts_up_to_its_answer(import_file: Import) -> None:
    used = {"input": 4000, "output": 40, "cacheRead": 900, "cacheWrite": 60}
    talk = [user("u1"), answer("a1", usage=used), user("four")]
    failed = answer("f", usage={"totalTokens": 9}, stopReason="aborted")
    assert context_tokens(import_file(chain(*talk))) == 5001
    assert context_tokens(import_file(chain(*talk, failed), id="failed")) == 5002
    branched = [*chain(*talk, answer("a2", usage={"totalTokens": 7000})), *chain(user("five"), after="four")]
    assert context_tokens(import_file(branched, id="branched")) == 5002
    compacted = chain(*talk, compaction("k", "four"))
    assert context_tokens(import_file(compacted, id="compacted")) < 100


def test_nothing_is_compacted_by_an_import_but_by_the_next_append(import_file: Import) -> None:
    long = [
        said(f"{role}{n}", role, content=[{"type": "text", "text": " fold" * 60}])
        for n in range(9)
        for role in ("user", "assistant")
    ]
    scene = import_file(chain(*long), limit=1000, policy={"preset": "foldline"})
    assert (scene.records, scene.jobs) == ([], [])
    assert scene.append(says(60)).step.is_news
    assert scene.used <= 1000


def test_an_imported_compaction_can_be_undone(import_file: Import) -> None:
    scene = import_file(SUMMED_UP)
    (made,) = compactions(scene)
    assert scene.undo(made.id) == [made.id]
    assert names(scene) == ["u1", "a1", "r1", "a2", "u2", "a3", "u3"]
    scene.redo()
    assert names(scene) == ["k", "u2", "a3", "u3"]


def test_what_is_given_goes_before_what_the_file_says(store: Store) -> None:
    given = {
        "id": "mine",
        "model": "nobody/none",
        "context_window": 5000,
        "policy": {"preset": "pi@program"},
        "system": "Hm.",
    }
    with store.write() as tx:
        session = import_session(tx, TENANT, given, prepare(pi.read(file_of(SUMMED_UP)))).path.session
    assert (session.id, session.model, session.context_window) == ("mine", "nobody/none", 5000)
    assert (session.policy.preset, session.system) == ("pi@program", "Hm.")


def test_a_file_without_entries_is_a_session_without_any(import_file: Import) -> None:
    scene = import_file([])
    assert (listed(scene), scene.wire()) == ([], [])
    assert lines_of(exported(scene)) == lines_of(scene.file)
    scene.append(says(3))
    assert [line["type"] for line in lines_of(exported(scene))] == ["session", "message"]


DEEP: Json = {}
for _ in range(700):
    DEEP = {"in": DEEP}
CALL = {"type": "toolCall", "id": "c", "name": "n", "arguments": DEEP}


@pytest.mark.parametrize(
    ("header", "last", "error"),
    [
        ({}, said("x", "assistant", content=[CALL]), MalformedLine(10, "nested deeper than 200 levels")),
        ({"id": "used"}, user("x"), Conflict("the session id 'used' is used already")),
        ({"provider": None}, user("x"), InvalidPolicy("model", "is not in the file; give one, as provider/name")),
        ({"modelId": "none"}, user("x"), UnknownModel("openai/none")),
    ],
)
def test_what_cannot_be_imported_leaves_nothing_behind(
    import_file: Import, store: Store, header: Json, last: Json, error: Exception
) -> None:
    import_file(SUMMED_UP, id="used")
    before = rows(store)
    with pytest.raises(type(error), match=f"^{error}$"), store.write() as tx:
        import_session(tx, TENANT, {}, prepare(pi.read(file_of([*SUMMED_UP, *chain(last, after="u3")], **header))))
    assert rows(store) == before


def test_every_line_may_be_as_deep_as_any_may_be(store: Store) -> None:
    deep: list[Any] = []
    for _ in range(DEPTH_MAX - 2):
        deep = [deep]
    lines = [*SUMMED_UP, *chain(branch_summary("b", "a3"), model_change("m"), note("n"), after="u3")]
    deepened = [{**line, "extra": deep} for line in lines]
    scene = Imported(store, file=file_of(deepened, extra=deep))
    assert names(scene)
    assert len(listed(scene)) == len(lines)
    assert len(compactions(scene)) == 1
    assert lines_of(exported(scene)) == lines_of(scene.file)
    for number in range(len(lines) + 1):
        file = [line | ({"extra": [deep]} if number == place else {}) for place, line in enumerate(deepened, 1)]
        with pytest.raises(MalformedLine, match=f"^line {number + 1}: nested deeper than 200 levels$"):
            pi.read(file_of(file, extra=deep if number else [deep]))


NO_IDS = ["", "a\0b", "a\ud800", "a/b", "x" * 9000, "é", "漢", "-a", "a\n"]
NO_NAMES = ["a\0b", "a\ud800", "x" * 9000, "a\n"]
NO_COUNTS = [-1, 2**31, 10**29]


def assert_line_is_refused(store: Store, line: int, file: str, **given: Any) -> None:
    before = rows(store)
    with pytest.raises(MalformedLine) as refused, store.write() as tx:
        import_session(tx, TENANT, given, prepare(pi.read(file)))
    assert refused.value.line == line
    assert rows(store) == before


@pytest.mark.parametrize("name", NO_IDS, ids=ascii)
def test_an_id_that_no_session_can_have_is_refused_unless_another_is_given(store: Store, name: str) -> None:
    file = file_of(SUMMED_UP, id=name)
    assert_line_is_refused(store, 1, file)
    assert lines_of(exported(Imported(store, id="given", file=file))) == lines_of(file)


def test_an_id_of_many_digits_is_one(store: Store) -> None:
    with store.write() as tx:
        made = import_session(tx, TENANT, {}, prepare(pi.read(file_of([], id="9" * 30))))
    assert made.path.session.id == "9" * 30


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_a_model_that_no_column_holds_is_refused_unless_another_is_given(store: Store, name: str) -> None:
    assert_line_is_refused(store, 1, file_of([], modelId=name))
    file = file_of(chain(user("u1"), model_change("m", name)))
    assert_line_is_refused(store, 3, file)
    with store.write() as tx:
        assert import_session(tx, TENANT, {"model": "openai/gpt-4o"}, prepare(pi.read(file))).entries == 2


def test_the_line_of_the_header_is_counted_with_blank_ones(store: Store) -> None:
    assert_line_is_refused(store, 3, "\n\n" + file_of([], id="a/b"))


@pytest.mark.parametrize("tokens", NO_COUNTS)
@pytest.mark.parametrize("name", ["input", "output", "cacheRead", "cacheWrite", "totalTokens"])
def test_a_count_that_no_column_holds_is_refused(store: Store, name: str, tokens: int) -> None:
    assert_line_is_refused(store, 3, file_of(chain(user("u1"), answer("a1", usage={name: tokens}))))


def test_the_largest_counts_leave_room_for_what_follows(import_file: Import) -> None:
    used = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 2**31 - 1)
    scene = import_file(chain(user("u1"), answer("a1", usage=used)), policy={"preset": "agent-code"})
    scene.append(says(60))


def test_summaries_that_no_view_has_room_for_are_refused(import_file: Import, store: Store) -> None:
    long = {**compaction("k", "u2"), "summary": " fold" * 900}
    tree = [*chain(*TALK, long), *chain(user("other"), after="a3")]
    before = rows(store)
    with pytest.raises(InvalidPolicy, match=r"^context_window: the summaries .* take 9\d\d tokens, .* is 900$"):
        import_file(tree[:-1], limit=900)
    assert rows(store) == before
    # On another branch it is in nobody's way.
    assert names(import_file(tree, limit=900))[-1] == "other"


def test_only_a_session_that_is_there_is_exported(import_file: Import, store: Store) -> None:
    import_file(SUMMED_UP)
    with pytest.raises(NotFound), store.read() as tx:
        export_session(tx, "somebody", "s")


@pytest.mark.parametrize("version", [2, 3])
def test_a_head_that_was_moved_is_in_the_file(store: Store, version: int) -> None:
    scene = Imported(store, file=file_of(SUMMED_UP, version=version))
    places = entry_ids(scene)
    scene.move(places["a1"])
    *lines, head = lines_of(exported(scene))
    assert lines == lines_of(file_of(SUMMED_UP))
    assert (head["id"], head["parentId"], head["customType"]) == ("head-a1", "a1", "foldline.head")
    moved = again(scene)
    assert names(moved) == names(scene) == ["u1", "a1"]
    moved.append(says(5))
    moved.move(places["a1"])
    assert [line["id"] for line in lines_of(exported(moved))].count("head-a1") == 1
    assert names(again(moved)) == ["u1", "a1"]
    scene.move(places["u3"])
    assert lines_of(exported(scene)) == lines_of(scene.file)


def test_a_head_that_was_moved_in_a_file_of_the_first_version_is_in_the_file(store: Store) -> None:
    scene = Imported(store, file=first_version([*TALK, FIRST_COMPACTION, user("u3")]))
    scene.move("e0-2")
    assert names_in(seen(again(scene)), {"u1", "a1", "k"}) == ["u1", "a1"]


# A compaction on request keeps about a hundred tokens.
PI = {"preset": "pi", "stages": [{"name": "summarize", "keep_tokens": 100}]}

# ---- sessions of ours, and sessions that went on ---------------------------------------------------------------


def again(scene: Scene) -> Imported:
    """The session that the import of an exported session makes."""
    return Imported(scene.store, id=f"again-{scene.path.session.version}", file=exported(scene))


def assert_shows_the_same(scene: Scene) -> None:
    assert shown_at_leaves(again(scene)) == shown_at_leaves(scene)


def kinds(scene: Scene) -> list[str]:
    return [line.get("customType") or line["type"] for line in lines_of(exported(scene))[1:]]


def test_a_session_of_ours_becomes_a_file(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(says(3), *batch("c", 5), assistant(2))
    header, *lines = lines_of(exported(scene))
    now = "2030-01-01T00:00:00.000Z"
    model = {"provider": "openai", "modelId": "gpt-4o"}
    assert header == {"type": "session", "version": 3, "id": "s", "timestamp": now, "cwd": "", **model}
    assert [(line["id"], line["parentId"]) for line in lines] == [
        ("e0-1", None), ("e0-2", "e0-1"), ("e0-3", "e0-2"), ("e0-4", "e0-3"),
    ]  # fmt: skip
    assert {line["timestamp"] for line in lines} == {now}
    roles = [(line["message"]["role"], line["message"].get("model")) for line in lines]
    assert roles == [("user", None), ("assistant", "gpt-4o"), ("toolResult", None), ("assistant", "gpt-4o")]
    assert {line["message"]["timestamp"] for line in lines} == {1_893_456_000_000}
    assert_shows_the_same(scene)


def test_messages_of_every_format_are_the_same_after_it(new_scene: NewScene) -> None:
    scene = new_scene(20_000)
    shot = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": [1, 2]}}
    seen_it = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a fold"}, shot]}
    asked_on = [seen_it, {"type": "text", "text": "And now?"}, shot]
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    scene.append(
        {"role": "user", "content": [{"type": "text", "text": "Look."}, url]},
        {"role": "developer", "content": "Be brief."},
    )
    scene.append(
        {"role": "assistant", "content": [call]}, {"role": "user", "content": asked_on}, format_name="anthropic"
    )
    assert [message.joined for message in seen(scene)] == [False, False, False, False, True]
    assert_shows_the_same(scene)


def test_a_summary_of_ours_becomes_a_compaction_of_pi(new_scene: NewScene) -> None:
    scene = new_scene(policy=PI)
    scene.append(*turns(6, 60))
    scene.compact()
    assert scene.work() == ["succeeded"]
    scene.append(*turns(1, 10))
    (written,) = [line for line in lines_of(exported(scene)) if line["type"] == "compaction"]
    (made,) = [each for each in compactions(scene) if each.summary_facts]
    assert written["firstKeptEntryId"] == made.summary_facts["first_kept_entry_id"]
    assert written["tokensBefore"] == made.tokens_before
    assert (written["details"], "fromHook" in written) == ({"readFiles": [], "modifiedFiles": []}, False)
    assert_shows_the_same(scene)


def test_a_branch_summary_of_ours_becomes_one_of_pi(new_scene: NewScene) -> None:
    scene = new_scene()
    said_so = scene.append(*turns(3, 30)).entry_ids
    scene.leave(said_so[1])
    scene.work()
    scene.append(says(5))
    (written,) = [line for line in lines_of(exported(scene)) if line["type"] == "branch_summary"]
    assert (written["fromId"], written["parentId"]) == (said_so[1], said_so[1])
    assert " gist" in written["summary"]
    assert_shows_the_same(scene)


def test_what_pi_has_nothing_like_goes_along_unseen(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(says(10), *batch("a", 300), *batch("b", 300), *turns(2, 20))
    inline = scene.compact(summarize=False, target_tokens=100).made
    assert inline
    scene.append(*turns(1, 20))
    unseen = [kind for kind in kinds(scene) if kind != "message"]
    assert unseen == ["foldline.compaction"] * len(inline)
    shown = again(scene)
    scene.undo(inline[0].id)
    assert kinds(scene)[-1] == "foldline.undo"
    assert bare(seen(shown)) == bare(seen(scene))


def test_what_was_undone_stays_so_and_what_was_redone_too(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(6, 60))
    scene.compact()
    scene.work()
    scene.undo(scene.live[0])
    assert "compaction" not in kinds(scene)
    assert_shows_the_same(scene)
    scene.redo()
    assert "compaction" in kinds(scene)
    assert_shows_the_same(scene)


def goes_on(scene: Imported) -> None:
    """What may happen to a session: appends, a summary of ours, a branch with a summary of what was left."""
    scene.append(*turns(3, 60))
    scene.compact()
    assert scene.work() == ["succeeded"]
    before = scene.append(*turns(1, 20)).entry_ids
    scene.leave(before[0])
    scene.work()
    scene.append(says(7))


@pytest.mark.parametrize("version", [2, 3])
def test_a_session_goes_on_after_an_import_and_is_a_file_again(store: Store, version: int) -> None:
    file = file_of(SUMMED_UP, version=version)
    scene = Imported(store, file=file, policy=PI)
    goes_on(scene)
    header, *lines = lines_of(exported(scene))
    assert [header, *lines[: len(SUMMED_UP)]] == [{**lines_of(file)[0], "version": 3}, *SUMMED_UP]
    assert [line["type"] for line in lines].count("compaction") == 2
    assert_shows_the_same(scene)


def test_a_file_of_the_first_version_that_went_on_is_one_of_the_third(store: Store) -> None:
    scene = Imported(store, file=first_version(TALK), policy=PI)
    goes_on(scene)
    header, *lines = lines_of(exported(scene))
    assert header["version"] == 3
    assert [line["id"] for line in lines[:2]] == ["e0-1", "e0-2"]
    assert_shows_the_same(scene)


def test_a_compaction_of_the_first_version_still_names_what_it_keeps(store: Store) -> None:
    file = first_version([*TALK, FIRST_COMPACTION, user("u3")])
    scene = Imported(store, file=file)
    scene.append(says(5))
    assert_shows_the_same(scene)


def test_an_imported_compaction_that_was_undone_is_not_in_force_again(import_file: Import) -> None:
    scene = import_file(SUMMED_UP)
    scene.undo(scene.live[0])
    scene.append(says(5))
    assert_shows_the_same(scene)


def test_a_compaction_that_one_branch_took_back_hides_nothing_there(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(6, 60))
    scene.compact()
    scene.work()
    kept, *_ = scene.append(*turns(1, 20)).entry_ids
    scene.move(kept)
    scene.undo(scene.live[0])
    scene.append(says(5))
    # Here one leaf shows the summary; there each shows all that was said.
    assert [len(view) for view in shown_at_leaves(again(scene))] == [14, 14]


def test_a_compaction_that_was_redone_after_a_branch_began_hides_nothing_on_the_branch(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(6, 60))
    scene.compact()
    scene.work()
    scene.undo(scene.live[0])
    first, *_, last = scene.append(*turns(1, 20)).entry_ids
    scene.move(first)
    scene.append(says(5))
    assert scene.live == []
    scene.move(last)
    scene.redo()
    assert scene.live
    assert "compaction" not in kinds(scene)


def test_ids_of_a_file_of_ours_are_not_given_again(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(1, 5), says(5))
    # Nothing is said on the branch that the first move makes, so there is nothing of it in the file.
    scene.move("e0-2")
    scene.move("e0-1")
    scene.append(says(6))
    twice = again(scene)
    twice.move("e0-1")
    twice.append(says(7))
    assert_shows_the_same(twice)
