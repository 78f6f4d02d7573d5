"""Layouts as data: how each system divides a context window, and at which use it warns or compacts. All in tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from types import MappingProxyType
from typing import Final

from foldline.engine.models.attachments import OWN_RULES, FileRules
from foldline.engine.models.registries import AGENT_CODE_OUTPUT, ByWord


@dataclass(frozen=True, slots=True)
class UsageLevel:
    """A level of use of the room for input: it begins at `share` of the room, less `below` tokens.

    It never begins below half of the room, so that small rooms have room under it.
    """

    name: str
    share: float = 1.0
    below: int = 0

    def begins(self, room: int) -> int:
        """The tokens at which it begins, in a room of `room` tokens."""
        return max(ceil(room * self.share) - self.below, ceil(room * SMALLEST_SHARE))


SMALLEST_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Layout:
    """Divides a window into the output reserve and the room for input.

    The reserve is `reserve_share` of the window, at most `reserve_most`. A call's own `max_output_tokens` replaces it;
    if the reserve `is_bound`, it only lowers it. The room for input is divided by `safety` to allow for errors of the
    estimate. `levels`, lowest first, and the policy's shares are of this room, or of the whole window with `of_window`.
    `outputs` are the longest answers of models: a call without `max_output_tokens` counts as one for the longest.
    `files` are the rules for the files of a call.
    """

    reserve_share: float
    reserve_most: int
    levels: tuple[UsageLevel, ...]
    safety: float = 1.0
    is_bound: bool = False
    of_window: bool = False
    outputs: ByWord | None = None
    files: FileRules = OWN_RULES

    def output_of(self, model: str | None, max_output: int | None) -> int | None:
        """The output tokens of a call: `max_output`, else the model's longest answer if the layout has `outputs`."""
        return max_output if max_output is not None or self.outputs is None else self.outputs.window(model)

    def reserve(self, window: int, max_output: int | None = None) -> int:
        """The tokens kept for the answer."""
        most = min(self.reserve_most, ceil(window * self.reserve_share))
        if not max_output or max_output < 0:
            return most
        return min(max_output, most) if self.is_bound else max_output

    def available(self, window: int, max_output: int | None = None) -> int:
        """The tokens left for input; 0 if the reserve takes the whole window."""
        return max(0, window - self.reserve(window, max_output))

    def budget(self, window: int, fixed: int, max_output: int | None = None) -> int:
        """The tokens left for the conversation beside `fixed` tokens; 0 if none are left."""
        return max(0, floor((self.available(window, max_output) - fixed) / self.safety))

    def reached(self, tokens: int, room: int) -> Sequence[str]:
        """The names of the levels that `tokens` reach, lowest first."""
        return [level.name for level in self.levels if tokens >= level.begins(room)]


_USE: Final = (UsageLevel("warning", share=0.8), UsageLevel("critical", share=0.9))
_DISTANCE: Final = (
    UsageLevel("warning", below=20_000),
    UsageLevel("compact", below=13_000),
    UsageLevel("blocking", below=3_000),
)
_NEUROLINK: Final = Layout(
    reserve_share=0.35,
    reserve_most=64_000,
    levels=(UsageLevel("notice", share=0.6), UsageLevel("compact", share=0.8)),
    files=FileRules(share=0.6, bytes_per_token=4, truncate_share=0.0, preview_above_bytes=5 * 1024 * 1024),
)

LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "foldline": Layout(reserve_share=0.35, reserve_most=64_000, levels=_USE),
        "neurolink": _NEUROLINK,
        # Files go along whole or not at all, and take tokens by their types.
        "neurolink@program": replace(_NEUROLINK, files=FileRules(share=0.6, is_by_type=True)),
        "agent-code": Layout(reserve_share=0.5, reserve_most=20_000, levels=_DISTANCE),
        "agent-code@program": Layout(
            reserve_share=0.5, reserve_most=20_000, levels=_DISTANCE, is_bound=True, outputs=AGENT_CODE_OUTPUT
        ),
        # Its levels are of the whole window, and the system prompt counts. It compacts above 90 % of that: in small
        # windows, an answer has what the margin for error leaves of the rest.
        "codebuddy": Layout(reserve_share=0.08, reserve_most=4_096, levels=_USE, of_window=True),
        "codebuddy@program": Layout(reserve_share=0.35, reserve_most=4_096, levels=_USE, safety=1.2),
        "pi": Layout(reserve_share=0.5, reserve_most=16_384, levels=(UsageLevel("compact"),)),
    }
)
