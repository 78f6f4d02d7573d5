"""Session files of any shape: an import is exported unchanged, and its views are those of pi."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.formats import FORMATS, rules
from foldline.engine.session_files import pi
from foldline.engine.session_files.pi_messages import USAGE
from foldline.engine.session_files.trees import Kind, TreeEntry, in_view, path_to, tree_of
from tests.support.log.sessions import assert_consistent, open_store
from tests.support.pi_files import (
    Imported,
    Json,
    answer,
    bash,
    branch_summary,
    chain,
    compaction,
    entry,
    entry_ids,
    exported,
    file_of,
    leaves_of,
    lines_of,
    model_change,
    names_in,
    note,
    result,
    said,
    seen,
    shown_at_leaves,
    user,
)
from tests.support.processes.databases import sqlite_database
from tests.support.transcripts import json_values, texts


class Step(NamedTuple):
    """The next entry of a file: the earlier step that it follows, and the entry that a summary names."""

    kind: str
    after: int
    named: int
    fields: Json
    said: Json
    extra: Json


Make: TypeAlias = Callable[[str, str | None, Step], list[Json]]


def _batch(name: str, _named: str | None, step: Step) -> list[Json]:
    calls = [f"{name}-{index}" for index in range(1 + step.named % 3)]
    return [answer(name, *calls, **step.said), *(result(f"{call}r", call) for call in calls)]


REGULAR: Mapping[str, Make] = {
    "user": lambda name, _named, _step: [user(name)],
    "answer": lambda name, _named, step: [answer(name, **step.said)],
    "batch": _batch,
    "bash": lambda name, _named, step: [bash(name, is_excluded=step.named % 2 == 0)],
    "note": lambda name, _named, _step: [note(name)],
    "compaction": lambda name, named, step: [compaction(name, named, **step.fields)],
    "branch_summary": lambda name, named, step: [branch_summary(name, named or "root", **step.fields)],
    "model_change": lambda name, _named, _step: [model_change(name)],
    "unknown": lambda name, _named, step: [entry("something_new", name, data=step.extra)],
}
# Also calls without results, results without calls, and results that do not follow their call.
LOOSE: Mapping[str, Make] = {
    **REGULAR,
    "open": lambda name, _named, _step: [answer(name, "c1", "c2")],
    "result": lambda name, _named, step: [result(name, f"c{step.named % 3}")],
    "silent": lambda name, _named, _step: [said(name, "assistant", content=[])],
}

USAGES = st.dictionaries(st.sampled_from((*USAGE, "totalTokens")), st.integers(0, 50_000), max_size=3)
STOPS = st.sampled_from(("stop", "toolUse", "aborted", "error"))
# Keys and kinds of Foldline's own entries, and texts that resemble keys and values of a file.
CLASHES = st.sampled_from(
    (
        "origin",
        "edits",
        "reported",
        "body",
        "kind",
        "seq",
        "branch",
        "parent",
        "from",
        "summary_id",
        "Id",
        "_id",
        "entry_id",
    )
)
EXTRAS = st.dictionaries(texts.map("x{}".format) | CLASHES, json_values, max_size=2)
STEPS = st.builds(
    Step,
    st.sampled_from(sorted(LOOSE)),
    st.sampled_from((1, 1, 1, 1, 1, 2, 3, 5, 20)),
    st.integers(0, 30),
    st.sampled_from(({}, {"fromHook": True}, {"fromHook": False, "details": {"readFiles": ["a"]}})),
    st.fixed_dictionaries({"usage": USAGES, "stopReason": STOPS}),
    st.just({}) | EXTRAS,
)


def _file(makers: Mapping[str, Make], steps: Sequence[Step], extra: Json) -> str:
    entries: list[Json] = []
    ends: list[str | None] = [None]
    for number, step in enumerate(steps):
        names = ["nowhere", None, *(each["id"] for each in entries), f"n{number}"]
        made = makers.get(step.kind, REGULAR["user"])(f"n{number}", names[step.named % len(names)], step)
        entries += chain(*({**each, **step.extra} for each in made), after=ends[-min(step.after, len(ends))])
        ends += [each["id"] for each in made] if makers is LOOSE else [made[-1]["id"]]
    return file_of(entries, version=2 + len(steps) % 2, **extra)


def files(makers: Mapping[str, Make]) -> st.SearchStrategy[str]:
    """Files with several branches and roots."""
    return st.builds(lambda steps, extra: _file(makers, steps, extra), st.lists(STEPS, max_size=14), EXTRAS)


@contextmanager
def imported(file: str) -> Iterator[Imported]:
    with sqlite_database() as url, open_store(url) as store:
        yield Imported(store, file=file)


@given(files(LOOSE))
def test_what_is_imported_is_exported_as_it_was(file: str) -> None:
    with imported(file) as scene:
        assert lines_of(exported(scene)) == lines_of(file)


@given(files(LOOSE))
def test_every_leaf_is_consistent_and_valid_in_every_format(file: str) -> None:
    with imported(file) as scene:
        assert_consistent(scene)
        places = entry_ids(scene)
        for leaf in leaves_of(file):
            scene.move(places[leaf])
            view = seen(scene, must_fit=True)
            for name, wire_format in FORMATS.items():
                assert rules.check(name, wire_format.render(view, None).messages, None) == []


@given(files(REGULAR))
def test_a_leaf_shows_what_pi_would_send(file: str) -> None:
    tree = tree_of(map(_in_tree, pi.read(file).entries))
    with imported(file) as scene:
        places = entry_ids(scene)
        for leaf in leaves_of(file):
            scene.move(places[leaf])
            assert names_in(seen(scene), tree) == [each.id for each in in_view(path_to(tree, leaf))]


@given(files(LOOSE))
def test_a_session_that_went_on_shows_the_same_after_another_import(file: str) -> None:
    with imported(file) as scene:
        scene.append({"role": "user", "content": "and on"})
        again = Imported(scene.store, id="again", file=exported(scene))
        assert shown_at_leaves(again) == shown_at_leaves(scene)


def _in_tree(each: pi.PiEntry) -> TreeEntry:
    role = each.source.get("message", {}).get("role")
    kind: Kind = "result" if role == "toolResult" else each.kind
    return TreeEntry(each.id, each.parent, kind, first_kept=each.first_kept)
