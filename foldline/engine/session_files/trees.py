"""Trees of entries that name their parent: paths, the entries that a move to another leaf leaves, and views.

Entries have no content here. The session log stores branches in another form, from which it reads a path at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

Kind: TypeAlias = Literal["message", "result", "compaction", "branch_summary", "other"]

SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
# The summary of a branch reads neither tool results nor entries that are no message.
UNREAD: Final = frozenset({"result", "other"})
# A summary may exceed a budget of which less than this share is used, since it says much in few tokens.
NEARLY_FULL: Final = 0.9


class TreeEntry(NamedTuple):
    """An entry of a tree; `parent` is the id of the entry it was appended to, None for a root.

    `kind` is `result` for a tool's message and `other` for an entry that no model sees. `first_kept` is the id of the
    oldest entry that a compaction leaves as it is.
    """

    id: str
    parent: str | None = None
    kind: Kind = "message"
    tokens: int = 0
    first_kept: str | None = None


class Linked(Protocol):
    """What a tree is made of: it has an id, and names its parent."""

    @property
    def id(self) -> str:
        """Its own id."""

    @property
    def parent(self) -> str | None:
        """The id of its parent; None for a root."""


Node = TypeVar("Node", bound=Linked)


def tree_of(entries: Iterable[Node]) -> Mapping[str, Node]:
    """The entries by their ids."""
    return {entry.id: entry for entry in entries}


def path_to(tree: Mapping[str, Node], leaf: str | None) -> list[Node]:
    """The entries from the root to a leaf, both included; empty if the leaf is None.

    Raises:
        KeyError: the leaf or a parent is not in the tree.
        ValueError: an entry is its own ancestor.
    """
    path: dict[str, Node] = {}
    while leaf is not None:
        if leaf in path:
            message = f"entry {leaf!r} is its own ancestor"
            raise ValueError(message)
        path[leaf] = tree[leaf]
        leaf = tree[leaf].parent
    return [*path.values()][::-1]


class LeftBehind(NamedTuple):
    """The deepest common entry of an old and a new path, if any, and the entries of the old path after it."""

    common: TreeEntry | None
    entries: Sequence[TreeEntry]


def left_behind(old_path: Sequence[TreeEntry], new_path: Sequence[TreeEntry]) -> LeftBehind:
    """The entries that a move from one path of a tree to another leaves, oldest first."""
    pairs = zip(old_path, new_path, strict=False)
    common = [old for old, _ in takewhile(lambda pair: pair[0].id == pair[1].id, pairs)]
    return LeftBehind(common[-1] if common else None, old_path[len(common) :])


def newest_within(entries: Sequence[TreeEntry], budget_tokens: int) -> list[TreeEntry]:
    """The newest messages and summaries that fit a budget, oldest first; a budget of 0 is no limit.

    The first that does not fit ends the list. If it is a summary and the budget is not nearly full, it is the last
    taken.
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
    """The entries of a path that a model sees: its last compaction, then all messages that no compaction covers.

    A compaction includes the summary of the one before it, so entries that an older one covers stay covered. A
    compaction that names itself as first kept keeps nothing before it. One that names no entry up to it on this path
    covers nothing more. A result stays together with its call.
    """
    places = {entry.id: index for index, entry in enumerate(path)}
    compactions = [index for index, entry in enumerate(path) if entry.kind == "compaction"]
    kept = ((places.get(path[index].first_kept or "", len(path)), index) for index in compactions)
    start = max((place for place, index in kept if place <= index), default=0)
    while start and path[start].kind == "result":
        start -= 1
    shown = [entry for entry in path[start:] if entry.kind not in {"compaction", "other"}]
    return [*(path[index] for index in compactions[-1:]), *shown]
