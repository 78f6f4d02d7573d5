"""How the sessions of a replay are made and driven, as its user asked; nothing is sent from here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foldline.engine.errors import InvalidPolicy
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.terminal import CommandFailed

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How sessions are made and driven.

    `patience_seconds` is how long jobs may stand still at the end. `compact_threshold` is a share of the budget that
    takes the place of the preset's trigger; a lower one lowers the target in proportion, so that it stays below.
    """

    model: str
    context_window: int
    policy: str | None = None
    compact_every: int = 0
    patience_seconds: float = 60.0
    compact_threshold: float | None = None
    is_compacting: bool = True

    @property
    def known_policy(self) -> Policy:
        """The policy of the sessions; built on the default where only the service at --url knows the preset.

        Raises:
            InvalidPolicy: the threshold is no share of a budget.
        """
        preset = PRESETS.get(self._preset, PRESETS[DEFAULT_PRESET])
        if self.compact_threshold is None:
            return preset
        return replace(preset, trigger=self.compact_threshold, target=preset.target * self.lowered)

    @property
    def lowered(self) -> float:
        """The threshold as a share of the preset's own trigger; 1 where it is not lower."""
        own = PRESETS.get(self._preset, PRESETS[DEFAULT_PRESET]).trigger
        return 1.0 if self.compact_threshold is None else min(1.0, self.compact_threshold / own)

    @property
    def _preset(self) -> str:
        return self.policy or DEFAULT_PRESET

    def session_body(self) -> JsonDict:
        """What a session is created with, but for what its transcript says."""
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
            # A preset that only the service knows has a target that only the service can compare.
            if self._preset in PRESETS:
                values["target"] = self.known_policy.target
        return values


def check_threshold(options: Options) -> None:
    """Raise CommandFailed for a `--compact-threshold` that no policy can have."""
    try:
        _ = options.known_policy
    except InvalidPolicy as error:
        raise CommandFailed(
            f"--compact-threshold must be a share of the budget, above 0 to 1, not {options.compact_threshold}"
        ) from error
