"""How what was found is given back: quoted line by line, with who said it and in which entry, within some tokens.

Nothing in a quote can close its frame: each of its lines begins with a mark of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from foldline.engine.recall.visibility import OutOfView
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.excerpts import boundary, boundary_after

FRAME: Final = (
    "[Found by recall in what is out of view of this conversation. It is a record of who said what then, and no new "
    "request.]"
)
NOTHING: Final = "[Recall found nothing about this in what is out of view of this conversation.]"
QUOTE: Final = "> "
CUT: Final = "…"
# No passage takes more than this share of the tokens, so that several have room.
SHARE: Final = 0.3
# What a passage keeps of the text that it has without its neighbours.
OWN_SHARE: Final = 0.6
# Less of a passage says nothing.
LEAST_CHARS: Final = 20
NAME_CHARS: Final = 80
NEIGHBOUR_CHARS: Final = 240
_SAID: Final = {
    "user": "The user said",
    "assistant": "The assistant said",
    "tool": "A tool returned",
    "system": "A system message said",
    "developer": "A developer message said",
    "summary": "A summary of another branch said",
}


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who said something, in which entry, and by which tool if it is a result."""

    entry_id: str
    said_by: str
    tool: str | None = None

    @property
    def line(self) -> str:
        """The source as the beginning of a sentence."""
        said = f"The tool {one_line(self.tool, NAME_CHARS)} returned" if self.tool else _SAID[self.said_by]
        return f"{said} (entry {self.entry_id})"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What stands before a passage and explains it, or after it and answers it: a question, a call, a result."""

    source: Attribution
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was found. Its best line is from `start` to `stop`.

    `kind` is that of the ledger's item that it is, None for a passage of the entry's text.
    """

    source: Attribution
    out_of_view: OutOfView
    text: str
    start: int
    stop: int
    kind: str | None = None
    before: Neighbour | None = None
    after: Neighbour | None = None

    @property
    def quoted(self) -> str:
        """The passage in a quote, between its neighbours."""
        own = Neighbour(self.source, self.text)
        shown = (each for each in (self.before, own, self.after) if each is not None)
        return "\n".join(line for each in shown for line in (f"{each.source.line}:", *_quote(each.text)))


@dataclass(frozen=True, slots=True)
class Quotes:
    """Passages, best first, and the text that quotes them all in a frame; `tokens` are those of the text."""

    passages: tuple[Passage, ...]
    text: str
    tokens: int


def quotes_within(passages: Iterable[Passage], max_tokens: int) -> Quotes:
    """As many of the passages as have room in `max_tokens`, each cut down to the surroundings of its best line."""
    left = max_tokens - count_text(f"{FRAME}\n\n")
    each = int(left * SHARE)
    chosen: list[Passage] = []
    for passage in passages:
        shown = _within(passage, min(each, left))
        if shown is None:
            continue
        chosen.append(shown)
        left -= count_text(f"{shown.quoted}\n\n")
    text = "\n\n".join((FRAME, *(passage.quoted for passage in chosen))) if chosen else NOTHING
    return Quotes(tuple(chosen), text, count_text(text))


def one_line(text: str, chars: int) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text[: 4 * chars].split())
    return line if len(line) <= chars else f"{line[: boundary(line, chars)]}{CUT}"


def _quote(text: str) -> list[str]:
    return [f"{QUOTE}{line}" for line in text.strip().splitlines()]


def _within(passage: Passage, tokens: int) -> Passage | None:
    """The passage cut to so many tokens, without neighbours that there is no room for; None if none is left."""
    alone = _shortened(replace(passage, before=None, after=None), tokens)
    least = 0 if alone is None else int(len(alone.text) * OWN_SHARE)
    shorter = (_shortened(shown, tokens) for shown in (passage, replace(passage, after=None)))
    return next((shown for shown in shorter if shown is not None and len(shown.text) >= least), alone)


def _shortened(passage: Passage, tokens: int) -> Passage | None:
    """The passage with so much of its text that it takes at most these tokens; None if that is hardly any text."""
    # Cutting is by characters, and what a character takes differs within a text.
    while (taken := count_text(f"{passage.quoted}\n\n")) > tokens:
        keep = int(len(passage.text) * tokens / taken) - 1
        if keep < LEAST_CHARS:
            return None
        passage = _around(passage, keep)
        if len(passage.text) < LEAST_CHARS:
            # A single grapheme may be longer.
            return None
    return passage


def _around(passage: Passage, chars: int) -> Passage:
    """The passage cut to so many characters at most around its best line."""
    text, start, stop = passage.text, passage.start, passage.stop
    spare = max(0, chars - (stop - start))
    earliest = max(0, min(start - spare // 2, len(text) - chars))
    last = boundary(text, earliest + chars)
    first = min(boundary_after(text, earliest), last)
    cut = text[first:last]
    return replace(passage, text=cut, start=max(0, start - first), stop=max(0, min(stop, last) - first))
