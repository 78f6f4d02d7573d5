from __future__ import annotations

from typing import Any

from foldline.replay.prefix_watch import PrefixWatch

JsonDict = dict[str, Any]


class Log:
    """Compactions as a service lists them, each given once."""

    def __init__(self) -> None:
        self.waiting: list[JsonDict] = []
        self.questions = 0

    def new(self) -> list[JsonDict]:
        self.questions += 1
        given, self.waiting = self.waiting, []
        return given


def view(*texts: str) -> list[JsonDict]:
    return [{"role": "user", "content": text} for text in texts]


def watched() -> tuple[PrefixWatch, Log]:
    log = Log()
    watch = PrefixWatch(log.new)
    watch.appended(1, compacted=False)
    watch.saw(1, view("a"))
    return watch, log


def test_a_view_that_grows_needs_no_explanation_and_lists_nothing() -> None:
    watch, log = watched()
    watch.appended(2, compacted=False)

    assert watch.saw(2, view("a", "b")) == (False, None)
    assert (watch.changes, log.questions) == (0, 0)


def test_a_changed_prefix_without_a_compaction_is_reported_with_its_place() -> None:
    watch, _ = watched()
    watch.appended(2, compacted=False)
    watch.saw(2, view("a", "b"))
    watch.appended(3, compacted=False)

    assert watch.saw(3, view("a", "x", "c")) == (
        False,
        "the prefix changed without a compaction, from message 1 of 2 on",
    )


def test_a_view_that_lost_its_end_has_a_changed_prefix() -> None:
    watch, _ = watched()

    assert watch.saw(1, [])[1] is not None


def test_a_compaction_by_an_append_explains_a_changed_prefix() -> None:
    watch, log = watched()
    log.waiting = [{"id": "c1"}]
    watch.appended(2, compacted=True)

    assert watch.saw(2, view("x", "b")) == (True, None)
    assert watch.changes == 1


def test_a_summary_published_in_between_explains_a_changed_prefix() -> None:
    watch, log = watched()
    watch.appended(2, compacted=False)
    log.waiting = [{"id": "c1"}]

    assert watch.saw(3, view("x", "b")) == (True, None)


def test_a_claimed_compaction_that_is_not_listed_explains_nothing() -> None:
    watch, _ = watched()
    watch.appended(2, compacted=True)

    assert watch.saw(2, view("x", "b"))[1] is not None


def test_a_compaction_explains_one_change_only() -> None:
    watch, log = watched()
    log.waiting = [{"id": "c1"}]
    watch.appended(2, compacted=True)
    watch.saw(2, view("x", "b"))
    watch.appended(3, compacted=False)

    assert watch.saw(3, view("y", "b", "c"))[1] is not None


def test_a_compaction_listed_a_view_too_early_explains_the_next_change() -> None:
    watch, log = watched()
    # c2 is published after the view was made and before the list is fetched.
    log.waiting = [{"id": "c1"}, {"id": "c2"}]
    watch.appended(2, compacted=True)
    watch.saw(2, view("x", "b"))
    watch.appended(4, compacted=False)

    assert watch.saw(4, view("y", "b", "c")) == (True, None)


def test_a_requested_compaction_explains_a_changed_prefix() -> None:
    watch, log = watched()
    log.waiting = [{"id": "c1"}]
    watch.compaction_requested()

    assert watch.saw(2, view("x")) == (True, None)
