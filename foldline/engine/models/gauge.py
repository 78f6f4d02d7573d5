"""How a policy sees a session: in its own count, with its goals in that, and the budget its layout leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.budget import SMALLEST_SUMMARY, Budget, Goals, budget_of, goals_of
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.models.windows import ContextWindow, parse_size, window_of
from foldline.engine.outline import Outline
from foldline.engine.policies.layouts import LAYOUTS, Layout
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.estimates import ESTIMATES, EXACT
from foldline.engine.tokens.measures import Measure, measure_of

UNBOUNDED: Final = 1 << 53
# Providers that other systems know by another name.
ALIASES: Final[Mapping[str, str]] = MappingProxyType({"google": "google-ai"})


@dataclass(frozen=True, slots=True)
class Gauge:
    """A measure, and what plans aim at in it.

    `reported` is what the history takes as a whole where a provider has said so; its items are measured all the same.
    """

    measure: Measure
    goals: Goals
    reported: int | None = None

    def seen(self, outline: Outline) -> Outline:
        """An outline that is counted exactly, as the policy sees it."""
        seen = outline.measured(self.measure)
        return seen if self.reported is None else replace(seen, tokens=self.reported)

    def aimed(self, goals: Goals, outline: Outline) -> Gauge:
        """The same, aiming as far down as these exact goals do with an outline that is counted exactly."""
        seen = outline.measured(self.measure)
        if seen is outline:
            return Gauge(self.measure, goals)
        return Gauge(self.measure, self.goals.aiming_at(goals.target * seen.tokens // max(1, outline.tokens)))


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is in every view: the system prompt, tool definitions as their JSON, and pins and stubs, counted exactly."""

    system: str | None = None
    tools_json: str | bytes = ""
    other_tokens: int = 0

    def estimated(self, counter: str, provider: str) -> int:
        """Their tokens by an estimate."""
        estimate = ESTIMATES[counter]
        system_tokens = estimate.text(self.system, provider) + estimate.message if self.system else 0
        # Definitions are measured by their JSON, which is the same for any provider.
        return system_tokens + -(-len(self.tools_json) // 4) + self.other_tokens


@dataclass(frozen=True, slots=True)
class Frame:
    """What a policy's budget depends on beside the policy: the model, and what its caller says of window and output.

    Without a model there has to be a window. Raises, in whatever is asked of it:
        UnknownModel: neither we nor the policy's registry know the model's window, and none was given.
        InvalidPolicy: a window or reserve that cannot work.
    """

    model: str | None
    context_window: int | str | None = None
    max_output_tokens: int | None = None

    def window(self, policy: Policy) -> ContextWindow:
        """The model's context window."""
        if self.model is None:
            if self.context_window is None:
                raise InvalidPolicy("context_window", "is needed where no `model` is given")
            return ContextWindow(parse_size(self.context_window))
        registry = REGISTRIES.get(policy.registry)
        return window_of(self.model, self.context_window, _listed(registry.known) if registry else None)

    def budget(self, policy: Policy) -> Budget:
        """What the window leaves for input."""
        window = self.window(policy)
        layout = layout_of(policy, window.tokens)
        output = layout.output_of(self.model, self.max_output_tokens)
        return budget_of(window, self.max_output_tokens, layout.reserve(window.tokens, output))

    def goals(self, policy: Policy, fixed_tokens: int, multiplier: int) -> Goals:
        """What plans under the policy aim at, counted exactly, with fixed parts of so many unscaled tokens."""
        budget = self.budget(policy)
        layout = layout_of(policy, budget.window)
        whole = budget.window if layout.of_window else None
        return goals_of(policy, budget.limit, fixed_tokens, multiplier, whole=whole)

    def gauge(self, policy: Policy, exact: Goals, fixed: Fixed) -> Gauge:
        """How the policy sees what has these exact goals, beside these fixed parts."""
        if policy.counter == EXACT:
            return Gauge(measure_of(EXACT), exact)
        window = self.window(policy).tokens
        layout = layout_of(policy, window)
        limit = layout.available(window, layout.output_of(self.model, self.max_output_tokens))
        goals = goals_of(
            policy,
            limit,
            fixed.estimated(policy.counter, self.provider),
            1000,
            whole=window if layout.of_window else None,
            safety=layout.safety,
        )
        if goals.limit < SMALLEST_SUMMARY:
            # The fixed parts alone are too much by the estimate: the exact count decides by itself.
            goals = replace(goals, limit=UNBOUNDED, trigger=UNBOUNDED, target=UNBOUNDED, keep_recent=exact.keep_recent)
        return Gauge(measure_of(policy.counter, self.provider), goals)

    @property
    def provider(self) -> str:
        """The model's provider, as other systems call it."""
        provider, _, name = (self.model or "").partition("/")
        return ALIASES.get(provider, provider) if name else ""


def layout_of(policy: Policy, window: int) -> Layout:
    """How the policy divides a window: as its layout does, but with a reserve of its own where that leaves anything."""
    layout = LAYOUTS[policy.layout]
    if policy.reserve_tokens is None or policy.reserve_tokens >= window:
        return layout
    return replace(layout, reserve_share=1.0, reserve_most=policy.reserve_tokens)


def _listed(known: Callable[[str | None, str | None], int | None]) -> Callable[[str, str], int | None]:
    return lambda name, provider: known(name, ALIASES.get(provider, provider))
