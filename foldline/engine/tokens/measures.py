"""Measures: the tokens of entries, and of Foldline's own texts in a view, by the exact count or by an estimate.

Every outline has a measure. The exact measure decides whether a view fits; a policy may plan by an estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from foldline.engine import wording
from foldline.engine.edits import Edit
from foldline.engine.facts import EstimatedDetails, Facts
from foldline.engine.messages import Image, Text
from foldline.engine.models.budget import SMALLEST_SUMMARY
from foldline.engine.tokens.counter import IMAGE, MESSAGE, RESULT
from foldline.engine.tokens.estimates import ESTIMATES, EXACT, SIZES, Estimate


@dataclass(frozen=True, slots=True)
class Measure:
    """Tokens of the texts that may stand in a view beside an original or in its place.

    `frame` is a result's message without its content. `cleared` and `pointer` are the contents of a cleared and of a
    superseded result that name nothing; facts have those that do. `image` is what a line in the place of an image
    saves. `late` is the extra cost of a quoted result. `marker` and `stub` are whole messages. Originals of at most
    `least_pending` tokens are not worth a summary. `counted` gives an entry's facts by this measure.
    """

    frame: int
    cleared: int
    pointer: int
    image: int
    late: int
    marker: int
    stub: int
    least_pending: int
    counted: Callable[[Facts], Facts] = lambda entry: entry

    def shown(self, entry: Facts, cell: Edit | None) -> int:
        """Tokens of an entry in a view, with its edit if it has one."""
        if cell is None:
            return entry.tokens
        if entry.answers is None:
            return entry.tokens - entry.arguments_saving
        if cell.kind in {"clear", "supersede"}:
            return self._frame(entry) + self._placeholder(entry, cell.kind)
        return self._frame(entry) + entry.excerpts[cell.level]

    def without_images(self, entry: Facts, edit: Edit | None) -> Facts:
        """The entry's facts after an edit that leaves images of it out, if it has one."""
        return entry if edit is None else entry._replace(tokens=entry.tokens - edit.level * self.image)

    def least(self, entry: Facts) -> int:
        """Tokens of an entry with the edit that leaves least of it, or as it is if that is less.

        Such an edit clears a result, shows an excerpt of it, or cuts the arguments of calls. The pointer of a
        superseded read may take less, but does not count: only a read that a later one covers ever gets it.
        """
        if entry.answers is None:
            return entry.tokens - entry.arguments_saving
        contents = (self._placeholder(entry, "clear"), *filter(None, entry.excerpts))
        return min(entry.tokens, self._frame(entry) + min(contents))

    def content(self, entry: Facts) -> int:
        """Tokens of a result's content."""
        return entry.tokens - self._frame(entry)

    def added(self, entry: Facts, stubs: int) -> int:
        """Tokens that a new entry adds to a view, with `stubs` stubs for the calls that it leaves without a result."""
        return self.counted(entry).tokens + self.stub * stubs

    def _placeholder(self, entry: Facts, kind: str) -> int:
        cleared, pointer = entry.placeholders or (self.cleared, self.pointer)
        return cleared if kind == "clear" else pointer or self.pointer

    def _frame(self, entry: Facts) -> int:
        return self.frame + self.late if is_quoted(entry) else self.frame


def is_quoted(entry: Facts) -> bool:
    """Whether an entry is a late result, which views quote in a user message."""
    return entry.is_late and entry.answers is not None


@cache
def exact_measure() -> Measure:
    """The measure by the exact count, which decides whether a view fits."""
    return Measure(
        frame=MESSAGE + RESULT,
        cleared=wording.cleared_tokens(),
        pointer=wording.pointer_tokens(),
        image=IMAGE - wording.older_image_tokens(),
        late=wording.late_tokens(),
        marker=wording.marker_tokens(),
        stub=wording.stub_tokens(),
        least_pending=SMALLEST_SUMMARY + wording.summary_frame_tokens(),
    )


@cache
def measure_of(counter: str, provider: str | None = None) -> Measure:
    """The measure by a counter, one of `estimates.COUNTERS`, for a provider's models."""
    if counter == EXACT:
        return exact_measure()
    estimate = ESTIMATES[counter]

    def text(*texts: str) -> int:
        return max(estimate.text(text, provider) for text in texts)

    around = [Text(wording.LATE.format(1)), Text(wording.LATE_END.format(1))]
    late = estimate.scaled(estimate.base(around), provider)
    return Measure(
        frame=estimate.message,
        cleared=text(wording.CLEARED),
        pointer=text(wording.READ_AGAIN),
        image=max(0, estimate.scaled(estimate.base([Image()]), provider) - text(wording.OLDER_IMAGE)),
        late=late,
        marker=estimate.message + text(wording.HIDDEN),
        stub=estimate.message + text(wording.UNANSWERED),
        least_pending=SMALLEST_SUMMARY + estimate.message + text(wording.SUMMARY),
        counted=_Counted(estimate, provider, SIZES[counter], late),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """Facts by an estimate. Excerpts are estimated in proportion; facts of old versions without sizes stay exact."""

    estimate: Estimate
    provider: str | None
    size: int
    late: int

    def __call__(self, entry: Facts) -> Facts:
        if self.size >= len(entry.sizes):
            return entry
        content = self.estimate.scaled(entry.sizes[self.size], self.provider)
        exact = max(1, exact_measure().content(entry) if entry.answers is not None else entry.tokens)
        tokens = self.estimate.message + content + (self.late if is_quoted(entry) else 0)
        return entry.counted(tokens, EstimatedDetails(entry, content, exact, self._placeholders))

    def _placeholders(self, entry: Facts) -> tuple[int, ...]:
        path = entry.read.path if entry.read else ""
        return wording.placeholder_tokens_by(lambda text: self.estimate.text(text, self.provider), entry.tool, path)
