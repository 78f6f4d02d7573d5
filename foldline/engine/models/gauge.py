"""A policy's view of a session: its own count, its goals in that count, and the budget of its layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.budget import SMALLEST_SUMMARY, UNBOUNDED, Budget, Goals, budget_of, goals_of
from foldline.engine.models.prices import USUAL_RATES, CacheRates
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.models.windows import ContextWindow, known_model, parse_size, window_of
from foldline.engine.outline import Outline
from foldline.engine.policies.layouts import LAYOUTS, Layout
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.estimates import ESTIMATES, EXACT
from foldline.engine.tokens.measures import Measure, measure_of

# Providers that have another name in other systems.
ALIASES: Final[Mapping[str, str]] = MappingProxyType({"google": "google-ai"})


@dataclass(frozen=True, slots=True)
class Gauge:
    """A measure and the goals of plans in it.

    `reported` is the size of the whole history if a provider reported it, before what a plan edits. Its items are
    measured nevertheless.
    """

    measure: Measure
    goals: Goals
    reported: int | None = None

    def seen(self, outline: Outline, before: Outline | None = None) -> Outline:
        """An exactly counted outline in the policy's own measure; after edits, `before` is the outline without them."""
        seen = outline.measured(self.measure)
        if self.reported is None:
            return seen
        saved = 0 if before is None else before.measured(self.measure).tokens - seen.tokens
        return replace(seen, tokens=max(0, self.reported - saved))

    def aimed(self, goals: Goals, outline: Outline) -> Gauge:
        """The gauge with the target of these exact goals, converted to its measure in proportion to this outline.

        The outline must be counted exactly.
        """
        if self.measure is outline.measure:
            return Gauge(self.measure, goals)
        return Gauge(self.measure, self.goals.aiming_at(self._converted(goals.target, outline)))

    def when_asked(self, goals: Goals, outline: Outline, tokens: int) -> Gauge:
        """The gauge of a compaction with these exact goals that a caller asked for, when the history had `tokens`.

        The outline and `tokens` must be counted exactly.
        """
        if self.measure is outline.measure:
            return Gauge(self.measure, goals)
        return Gauge(self.measure, self.goals.when_asked(self._converted(tokens, outline)))

    def lowered_to(self, goals: Goals, outline: Outline) -> Goals:
        """The gauge's goals for an outline that is over the limit of these exact ones, whatever its own count says.

        Where the exact goals are lower, in proportion to this outline, they count. It must be counted exactly.
        """
        if self.measure is outline.measure:
            return self.goals
        limit, target = self._converted(goals.limit, outline), self._converted(goals.target, outline)
        own = self.goals
        return replace(own, trigger=min(own.trigger, limit), target=min(own.target, target))

    def _converted(self, tokens: int, outline: Outline) -> int:
        """Exact tokens in this measure, in proportion to an outline that is counted exactly."""
        return tokens * outline.measured(self.measure).tokens // max(1, outline.tokens)


@dataclass(frozen=True, slots=True)
class Fixed:
    """The fixed parts of every view: system prompt, tool definitions as JSON, and exact tokens of pins and stubs."""

    system: str | None = None
    tools_json: str | bytes = ""
    other_tokens: int = 0

    def estimated(self, counter: str, provider: str) -> int:
        """Tokens of the fixed parts by an estimate."""
        estimate = ESTIMATES[counter]
        system_tokens = estimate.text(self.system, provider) + estimate.message if self.system else 0
        # Tool definitions are four characters of JSON a token for any provider.
        return system_tokens + -(-len(self.tools_json) // 4) + self.other_tokens


@dataclass(frozen=True, slots=True)
class Frame:
    """The model of a session, and the window and output that the caller gave; with a policy they give a budget.

    Without a model a window is required. All methods raise:
        UnknownModel: neither Foldline nor the policy's registry lists the model, and no window was given.
        InvalidPolicy: the window or the reserve cannot work.
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
        return window_of(self.model, self.context_window, _listed(registry.given) if registry else None)

    def budget(self, policy: Policy) -> Budget:
        """The budget of the model's window under the policy."""
        window = self.window(policy)
        layout = layout_of(policy, window.tokens)
        output = layout.output_of(self.model, self.max_output_tokens)
        return budget_of(window, self.max_output_tokens, layout.reserve(window.tokens, output))

    def goals(self, policy: Policy, fixed_tokens: int, multiplier: int) -> Goals:
        """The exact goals of plans under the policy, beside fixed parts of `fixed_tokens` unscaled tokens."""
        budget = self.budget(policy)
        layout = layout_of(policy, budget.window)
        whole = budget.window if layout.of_window else None
        return goals_of(policy, budget.limit, fixed_tokens, multiplier, whole=whole, rates=rates_of(self.model))

    def gauge(self, policy: Policy, exact: Goals, fixed: Fixed) -> Gauge:
        """The policy's gauge: its measure, and its goals in that measure beside these fixed parts."""
        if policy.counter == EXACT:
            return Gauge(measure_of(EXACT), exact)
        window, most = self.window(policy).tokens, self.budget(policy).limit
        layout = layout_of(policy, window)
        limit = layout.available(window, layout.output_of(self.model, self.max_output_tokens))
        fixed_tokens, whole = fixed.estimated(policy.counter, self.provider), window if layout.of_window else None
        goals = goals_of(policy, limit, fixed_tokens, 1000, whole=whole, safety=layout.safety)
        # Other systems keep no margin for error; a trigger within ours would be that of the exact count.
        within = most - fixed_tokens
        if 0 < within < goals.trigger:
            goals = replace(goals, trigger=within, target=min(goals.target, within))
        if goals.limit < SMALLEST_SUMMARY:
            # By the estimate, the fixed parts alone are too large. Then only the exact count decides.
            goals = replace(goals, limit=UNBOUNDED, trigger=UNBOUNDED, target=UNBOUNDED, keep_recent=exact.keep_recent)
        return Gauge(measure_of(policy.counter, self.provider), goals)

    @property
    def provider(self) -> str:
        """The model's provider by the name that other systems use; empty if the model has none."""
        provider, _, name = (self.model or "").partition("/")
        return ALIASES.get(provider, provider) if name else ""


def rates_of(model: str | None) -> CacheRates:
    """The model's prices of input as shares of its price without a cache; the usual ones if they are not known."""
    known = None if model is None else known_model(model)
    rates = known.prices.rates if known and known.prices else None
    return rates or USUAL_RATES


def layout_of(policy: Policy, window: int) -> Layout:
    """The policy's layout, with the policy's own reserve if it has one that is smaller than the window."""
    layout = LAYOUTS[policy.layout]
    if policy.reserve_tokens is None or policy.reserve_tokens >= window:
        return layout
    return replace(layout, reserve_share=1.0, reserve_most=policy.reserve_tokens)


def _listed(known: Callable[[str | None, str | None], int | None]) -> Callable[[str, str], int | None]:
    return lambda name, provider: known(name, ALIASES.get(provider, provider))
