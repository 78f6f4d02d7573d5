"""The catalogue: the models that a preset's registry lists, with their windows and limits under the preset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from foldline.engine.models.gauge import ALIASES, Fixed, Frame
from foldline.engine.models.prices import Prices
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.models.windows import known_model, known_models
from foldline.engine.policies.policy import Policy


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A model in a preset's registry, and its limits under the preset, in tokens.

    `model` is provider/name. Registries list the beginning of a name, some without a provider, or a word of a name.
    `listed_window` is the registry's window, None in Foldline's own registry. A session gets `context_window`: the one
    that Foldline knows, from `source`, else the `listed_window`. `limit` is the
    most that a view may take, counted exactly. `trigger` and `target` are by the preset's counter, for a view with
    history alone. `prices` are the provider's, if they are known.
    """

    model: str
    context_window: int
    listed_window: int | None
    is_exact: bool
    limit: int
    trigger: int
    target: int
    source: str = ""
    prices: Prices | None = None


def catalog(policy: Policy) -> Iterator[CatalogRow]:
    """The models that the policy's registry lists, in its order."""
    registry = REGISTRIES.get(policy.registry)
    if registry is None:
        return (_listed(policy, known.provider, known.name, None) for known in known_models())
    return (_listed(policy, *row) for row in registry.rows())


def only_listed(model: str) -> frozenset[int]:
    """The windows that other systems list for a model; empty if Foldline's own table has it."""
    if known_model(model) is not None:
        return frozenset()
    provider, name = model.split("/", 1) if "/" in model else ("", model)
    found = (registry.given(name, ALIASES.get(provider, provider)) for registry in REGISTRIES.values())
    return frozenset(filter(None, found))


def _listed(policy: Policy, provider: str, name: str, tokens: int | None) -> CatalogRow:
    known = known_model(f"{provider}/{name}" if provider else name)
    frame = Frame(f"{provider or (known.provider if known else '')}/{name}")
    window, limit = frame.window(policy), frame.budget(policy).limit
    goals = frame.gauge(policy, frame.goals(policy, 0, 1000), Fixed()).goals
    model = f"{provider}/{name}" if provider else name
    source, prices = (known.source, known.prices) if known else ("", None)
    return CatalogRow(model, window.tokens, tokens, window.is_exact, limit, goals.trigger, goals.target, source, prices)
