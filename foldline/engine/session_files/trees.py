"""Trees of entries that name their parent: paths, what is left behind on the way to another leaf, what a model sees.

Pure, and without content; the session log keeps branches in another form, by which it reads a path at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["message", "result", "compaction", "branch_summary", "other"]

SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
# What a summary of a branch reads beside a summary: not what tools answered, nor what is no message.
UNREAD: Final = frozenset({"result", "other"})
# A summary says so much in so few tokens that it may exceed a budget of which less than this share is used.
NEARLY_FULL: Final = 0.9


class TreeEntry(NamedTuple):
    """An entry of a tree; `parent` is the entry it was appended to, None for a root.

    `kind` is `result` for a tool's, `other` for what no model sees. `first_kept` is, for a compaction, the oldest entry
    that it leaves as it is.
    """

    id: str
    parent: str | None = None
    kind: Kind = "message"
    tokens: int = 0
    first_kept: str | None = None


Tree: TypeAlias = Mapping[str, TreeEntry]


def tree_of(entries: Iterable[TreeEntry]) -> Tree:
    """The entries by their ids."""
    return {entry.id: entry for entry in entries}


def path_to(tree: Tree, leaf: str | None) -> list[TreeEntry]:
    """The entries from the root to a leaf, both included; none to None.

    Raises:
        KeyError: the leaf or a parent is not in the tree.
        ValueError: an entry is its own ancestor.
    """
    path: dict[str, TreeEntry] = {}
    while leaf is not None:
        if leaf in path:
            message = f"entry {leaf!r} is its own ancestor"
            raise ValueError(message)
        path[leaf] = tree[leaf]
        leaf = tree[leaf].parent
    return [*path.values()][::-1]


class LeftBehind(NamedTuple):
    """What moving to another leaf leaves behind: the deepest entry of both paths, if any, and those after it."""

    common: TreeEntry | None
    entries: Sequence[TreeEntry]


def left_behind(old_path: Sequence[TreeEntry], new_path: Sequence[TreeEntry]) -> LeftBehind:
    """What a move from one path to another of the same tree leaves behind, oldest first."""
    pairs = zip(old_path, new_path, strict=False)
    common = [old for old, _ in takewhile(lambda pair: pair[0].id == pair[1].id, pairs)]
    return LeftBehind(common[-1] if common else None, old_path[len(common) :])


def newest_within(entries: Sequence[TreeEntry], budget_tokens: int) -> list[TreeEntry]:
    """The newest messages and summaries that a budget has room for, oldest first; 0 is no bound.

    The first that does not fit ends it, but a summary is taken all the same while the budget is not nearly full.
    """
    taken: list[TreeEntry] = []
    tokens = 0
    for entry in reversed(entries):
        if entry.kind in UNREAD:
            continue
        exceeds = 0 < budget_tokens < tokens + entry.tokens
        if exceeds and not (entry.kind in SUMMARIES and tokens < budget_tokens * NEARLY_FULL):
            break
        taken.append(entry)
        tokens += entry.tokens
        if exceeds:
            break
    return taken[::-1]


def in_view(path: Sequence[TreeEntry]) -> list[TreeEntry]:
    """What a model sees of a path: its last compaction first, then all messages from where the compactions end.

    A compaction takes up the summary of the one before it, so what an older one covers stays covered. One that names
    itself keeps nothing before it; one that names no entry up to it on this path covers nothing more. No cut falls
    between a call and its results.
    """
    places = {entry.id: index for index, entry in enumerate(path)}
    compactions = [index for index, entry in enumerate(path) if entry.kind == "compaction"]
    kept = ((places.get(path[index].first_kept or "", len(path)), index) for index in compactions)
    start = max((place for place, index in kept if place <= index), default=0)
    while start and path[start].kind == "result":
        start -= 1
    shown = [entry for entry in path[start:] if entry.kind not in {"compaction", "other"}]
    return [*(path[index] for index in compactions[-1:]), *shown]
