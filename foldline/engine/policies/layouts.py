"""How other systems divide a context window, and from where on they warn or compact, as data. All in tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from types import MappingProxyType
from typing import Final

from foldline.engine.models.registries import AGENT_CODE_OUTPUT, ByWord


@dataclass(frozen=True, slots=True)
class UsageLevel:
    """A level of use: reached from `share` of the room on, or from `below` tokens under all of it.

    In a room so small that nothing would be left under it, half of the room is.
    """

    name: str
    share: float = 1.0
    below: int = 0

    def begins(self, room: int) -> int:
        """Where it begins in a room of so many tokens."""
        return max(ceil(room * self.share) - self.below, ceil(room * SMALLEST_SHARE))


SMALLEST_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Layout:
    """A window is the output reserve and what is left for input.

    The reserve is `reserve_share` of the window and at most `reserve_most`. An output that is asked for takes its
    place, or, where the reserve `is_bound`, as much of it as that allows. What is left is divided by `safety`, as room
    for what an estimate misses. `levels`, lowest first, and a policy's shares are of that room, or, where they are
    `of_window`, of all of it. `outputs` are the most that models answer, where a call asks for that much.
    """

    reserve_share: float
    reserve_most: int
    levels: tuple[UsageLevel, ...]
    safety: float = 1.0
    is_bound: bool = False
    of_window: bool = False
    outputs: ByWord | None = None

    def output_of(self, model: str | None, max_output: int | None) -> int | None:
        """The output that a call asks for: `max_output`, or all a model can give where the layout knows that."""
        return max_output if max_output is not None or self.outputs is None else self.outputs.window(model)

    def reserve(self, window: int, max_output: int | None = None) -> int:
        """What is kept for the answer."""
        most = min(self.reserve_most, ceil(window * self.reserve_share))
        if not max_output or max_output < 0:
            return most
        return min(max_output, most) if self.is_bound else max_output

    def available(self, window: int, max_output: int | None = None) -> int:
        """What is left for input; 0 where the reserve takes it all."""
        return max(0, window - self.reserve(window, max_output))

    def budget(self, window: int, fixed: int, max_output: int | None = None) -> int:
        """What is left for the conversation beside `fixed` tokens; 0 where there is no room for it."""
        return max(0, floor((self.available(window, max_output) - fixed) / self.safety))

    def reached(self, tokens: int, room: int) -> Sequence[str]:
        """The levels that so many tokens reach, lowest first."""
        return [level.name for level in self.levels if tokens >= level.begins(room)]


_USE: Final = (UsageLevel("warning", share=0.8), UsageLevel("critical", share=0.9))
_DISTANCE: Final = (
    UsageLevel("warning", below=20_000),
    UsageLevel("compact", below=13_000),
    UsageLevel("blocking", below=3_000),
)

LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "foldline": Layout(reserve_share=0.35, reserve_most=64_000, levels=_USE),
        "neurolink": Layout(
            reserve_share=0.35,
            reserve_most=64_000,
            levels=(UsageLevel("notice", share=0.6), UsageLevel("compact", share=0.8)),
        ),
        "agent-code": Layout(reserve_share=0.5, reserve_most=20_000, levels=_DISTANCE),
        "agent-code@program": Layout(
            reserve_share=0.5, reserve_most=20_000, levels=_DISTANCE, is_bound=True, outputs=AGENT_CODE_OUTPUT
        ),
        # Levels are of the whole window here, with the system prompt in it.
        "codebuddy": Layout(reserve_share=0.35, reserve_most=4_096, levels=_USE, of_window=True),
        "codebuddy@program": Layout(reserve_share=0.35, reserve_most=4_096, levels=_USE, safety=1.2),
        "pi": Layout(reserve_share=0.5, reserve_most=16_384, levels=(UsageLevel("compact"),)),
    }
)
