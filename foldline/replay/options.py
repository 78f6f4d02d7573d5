"""The options of a replay: how its sessions are created and driven. Nothing is sent from here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foldline.engine.errors import InvalidPolicy
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.tokens.estimates import EXACT
from foldline.terminal import CommandFailed

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a replay.

    `patience_seconds` is how long jobs may make no progress at the end. `compact_threshold`, a share of the budget,
    replaces the preset's trigger; a lower one lowers the target in proportion, so that it stays below. Views are read
    in the `view_formats`; if there are none, in those that suit the transcript.
    """

    model: str
    context_window: int
    policy: str | None = None
    compact_every: int = 0
    patience_seconds: float = 60.0
    compact_threshold: float | None = None
    is_compacting: bool = True
    view_formats: tuple[str, ...] = ()

    @property
    def known_policy(self) -> Policy:
        """The policy of the sessions; based on the default preset if only the service at --url knows the one named.

        Raises:
            InvalidPolicy: the threshold is not a share of a budget.
        """
        preset = PRESETS.get(self._preset, PRESETS[DEFAULT_PRESET])
        if self.compact_threshold is None:
            return preset
        return replace(preset, trigger=self.compact_threshold, target=preset.target * self.lowered)

    @property
    def is_preset_known(self) -> bool:
        """Whether `known_policy` is that of the preset named, and not of another in its place."""
        return self._preset in PRESETS

    @property
    def has_own_program(self) -> bool:
        """Whether views with more out of view than the preset's own program are counted: that of another system."""
        return self.is_preset_known and self.known_policy.counter != EXACT and not self.compact_every

    @property
    def lowered(self) -> float:
        """The threshold as a share of the preset's own trigger, at most 1."""
        own = PRESETS.get(self._preset, PRESETS[DEFAULT_PRESET]).trigger
        return 1.0 if self.compact_threshold is None else min(1.0, self.compact_threshold / own)

    @property
    def _preset(self) -> str:
        return self.policy or DEFAULT_PRESET

    def session_body(self) -> JsonDict:
        """The body of `POST /sessions`, without the values of the transcript."""
        body: JsonDict = {"model": self.model, "context_window": self.context_window}
        if policy := self._policy_values():
            body["policy"] = policy
        if not self.is_compacting:
            body["auto_compact"] = False
        return body

    def _policy_values(self) -> JsonDict:
        values: JsonDict = {"preset": self.policy} if self.policy else {}
        if self.compact_threshold is not None:
            values["trigger"] = self.compact_threshold
            # The target of a preset that only the service knows is not known here.
            if self._preset in PRESETS:
                values["target"] = self.known_policy.target
        return values


def check_threshold(options: Options) -> None:
    """Check that a policy can have this `--compact-threshold`.

    Raises:
        CommandFailed: it is not a share of a budget.
    """
    try:
        _ = options.known_policy
    except InvalidPolicy as error:
        raise CommandFailed(
            f"--compact-threshold must be a share of the budget, above 0 to 1, not {options.compact_threshold}"
        ) from error
