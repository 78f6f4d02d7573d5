from collections.abc import Mapping

import pytest

from foldline.engine.session_files.trees import (
    Kind,
    TreeEntry,
    in_view,
    left_behind,
    newest_within,
    path_to,
    tree_of,
)


def line(*kinds: Kind, tokens: int = 10) -> list[TreeEntry]:
    """Entries after one another, named by their places."""
    parents = [None, *map(str, range(len(kinds)))]
    return [TreeEntry(str(place), parents[place], kind, tokens) for place, kind in enumerate(kinds)]


def messages(count: int) -> list[TreeEntry]:
    kinds: list[Kind] = ["message"] * count
    return line(*kinds)


def compacted(path: list[TreeEntry], **first_kept: str) -> list[TreeEntry]:
    """The path, where the entries at these places (`at3`) are compactions that leave what is named."""
    kept = {name.removeprefix("at"): first for name, first in first_kept.items()}
    return [
        entry._replace(kind="compaction", first_kept=kept[entry.id]) if entry.id in kept else entry for entry in path
    ]


def forked() -> Mapping[str, TreeEntry]:
    """A root with two lines: a, b, and c, d."""
    parents = {"root": None, "a": "root", "b": "a", "c": "root", "d": "c"}
    return tree_of(TreeEntry(name, parent) for name, parent in parents.items())


def names(entries: list[TreeEntry]) -> str:
    return " ".join(entry.id for entry in entries)


def test_a_path_leads_from_the_root_to_the_leaf() -> None:
    tree = forked()
    assert names(path_to(tree, "d")) == "root c d"
    assert names(path_to(tree, "root")) == "root"
    assert path_to(tree, None) == []


def test_a_parent_that_is_not_there_is_reported() -> None:
    with pytest.raises(KeyError, match="gone"):
        path_to(tree_of([TreeEntry("a", "gone")]), "a")


def test_an_entry_that_is_its_own_ancestor_is_reported() -> None:
    with pytest.raises(ValueError, match="'b' is its own ancestor"):
        path_to(tree_of([TreeEntry("a", "b"), TreeEntry("b", "a")]), "b")


@pytest.mark.parametrize(
    ("old", "new", "common", "left"),
    [
        ("b", "d", "root", "a b"),
        ("b", "a", "a", "b"),
        ("a", "b", "a", ""),
        ("b", "b", "b", ""),
        ("b", "c", "root", "a b"),
    ],
)
def test_what_is_left_behind_comes_after_the_deepest_common_entry(old: str, new: str, common: str, left: str) -> None:
    tree = forked()
    found = left_behind(path_to(tree, old), path_to(tree, new))
    assert found.common is tree[common]
    assert names(list(found.entries)) == left


def test_two_trees_have_no_entry_in_common() -> None:
    tree = tree_of([TreeEntry("x"), TreeEntry("y")])
    assert left_behind(path_to(tree, "x"), path_to(tree, "y")) == (None, [tree["x"]])
    assert left_behind([], path_to(tree, "y")) == (None, [])


def test_the_newest_within_a_budget_are_taken_oldest_first() -> None:
    entries = messages(4)
    assert names(newest_within(entries, 29)) == "2 3"
    assert names(newest_within(entries, 30)) == "1 2 3"
    assert names(newest_within(entries, 9)) == ""
    assert names(newest_within(entries, 0)) == "0 1 2 3"


def test_results_and_what_is_no_message_are_left_out_and_take_nothing() -> None:
    assert names(newest_within(line("message", "result", "other", "message"), 20)) == "0 3"


def test_the_first_that_does_not_fit_ends_it() -> None:
    entries = [*line("message", "message"), TreeEntry("large", tokens=50), TreeEntry("last", tokens=10)]
    assert names(newest_within(entries, 45)) == "last"


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_a_summary_may_exceed_a_budget_that_is_not_nearly_full(kind: Kind) -> None:
    entries = [*line("message"), TreeEntry("s", kind=kind, tokens=50), TreeEntry("last", tokens=36)]
    assert names(newest_within(entries, 41)) == "s last"
    assert names(newest_within(entries, 40)) == "last"


def test_without_a_compaction_all_messages_are_in_view() -> None:
    assert names(in_view(line("message", "other", "message", "branch_summary", "result"))) == "0 2 3 4"
    assert in_view([]) == []


def test_a_compaction_comes_before_what_it_keeps_and_what_came_after() -> None:
    path = compacted(line("message", "message", "other", "message", "message", "message"), at4="1")
    assert names(in_view(path)) == "4 1 3 5"


def test_only_the_last_compaction_shows() -> None:
    assert names(in_view(compacted(messages(7), at3="1", at5="2"))) == "5 2 4 6"


def test_a_compaction_that_names_itself_keeps_nothing_before_it() -> None:
    assert names(in_view(compacted(messages(4), at2="2"))) == "2 3"


@pytest.mark.parametrize("named", ["elsewhere", "4", "0"])
def test_what_an_older_compaction_covers_stays_covered(named: str) -> None:
    assert names(in_view(compacted(messages(6), at2="1", at3=named))) == "3 1 4 5"


def test_a_compaction_that_names_no_entry_before_it_covers_nothing() -> None:
    assert names(in_view(compacted(messages(4), at2="3"))) == "2 0 1 3"


def test_a_cut_between_a_call_and_its_results_moves_before_the_call() -> None:
    path = compacted(line("message", "message", "result", "result", "message", "message"), at4="3")
    assert names(in_view(path)) == "4 1 2 3 5"
