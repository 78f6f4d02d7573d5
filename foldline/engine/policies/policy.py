"""Policies as data: when to compact, how far down, with which stages and parameters; and reading them from JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.styles import STYLES
from foldline.engine.tokens.estimates import COUNTERS, EXACT

Value: TypeAlias = int | float | tuple[str, ...]

# The parameters of each stage with their defaults; the type of a default is the type of the parameter.
STAGE_PARAMETERS: Final[Mapping[str, Mapping[str, Value | None]]] = MappingProxyType(
    {
        "deduplicate": {"minimum_saving_share": 0.0, "stops_at_target": False, "by_words": False},
        "prune": {
            "minimum_tokens": 0,
            "excerpt_over_chars": 0,
            "keep_recent_tokens": None,
            "protect_tokens": 0,
            "minimum_saving_tokens": 0,
            "protected_tools": (),
            "stops_at_target": True,
        },
        "microcompact": {
            "keep_turns": 0,
            "keep_results": 1,
            "tools": (),
            "asked_keep_turns": None,
            "asked_keep_results": None,
            "overflow_keep_turns": None,
            "overflow_keep_results": None,
        },
        "strip": {"keep_messages": 4, "longer_than_chars": 200},
        "collapse": {},
        "summarize": {
            "keep_tokens": None,
            "keep_tokens_most": 0,
            "keep_messages": 0,
            "keep_share": 0.0,
            "keep_texts": 0,
            "at_least_messages": 1,
            "stops_at_target": False,
            "rounds_forward": False,
            "keeps_notes": False,
            "chunk_tokens": 0,
            "chunk_share": 0.0,
            "adapts_chunks": False,
            "falls_back": False,
        },
        "truncate": {"keep_first": 0, "fraction": 0.0},
    }
)

# Reasons of a compaction for which a stage may have a parameter of its own: `REASON_NAME` beside `NAME`.
REASONS: Final = ("asked", "overflow")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage by name, with the parameters that differ from their defaults."""

    name: str
    parameters: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))

    def number(self, name: str, default: int = 0) -> int:
        """The value of a parameter that is a number; `default` if the stage sets none."""
        value = self.parameters.get(name, STAGE_PARAMETERS[self.name][name])
        return value if isinstance(value, int) else default

    def share(self, name: str) -> float:
        """The value of a parameter that is a share from 0 to 1."""
        value = self.parameters.get(name, STAGE_PARAMETERS[self.name][name])
        return value if isinstance(value, int | float) else 0.0

    def names(self, name: str) -> frozenset[str]:
        """The value of a parameter that is a list of names, in lower case."""
        value = self.parameters.get(name, STAGE_PARAMETERS[self.name][name])
        return frozenset(map(str.lower, value)) if isinstance(value, tuple) else frozenset()

    def on(self, reason: str) -> Stage:
        """The stage for a compaction of this reason: each `REASON_NAME` that it has is its `NAME` then."""
        if reason not in REASONS:
            return self
        beginning = f"{reason}_"
        own = {
            name.removeprefix(beginning): value for name, value in self.parameters.items() if name.startswith(beginning)
        }
        return replace(self, parameters=MappingProxyType({**self.parameters, **own})) if own else self


SHARES: Final = ("trigger", "target", "keep_recent", "summary_share", "minimum_saving")
# Fields that are a whole number, or true or false.
PLAIN: Final[Mapping[str, Value]] = MappingProxyType(
    {
        **dict.fromkeys(("buffer_tokens", "reserve_tokens", "branch_reserve_tokens", "least_target_tokens"), 0),
        **dict.fromkeys(("output_bytes", "output_lines", "max_images", "max_image_bytes"), 0),
        **dict.fromkeys(("splits_turns", "lists_files", "trusts_usage", "weighs_prefix", "awaits_change"), False),
    }
)
# Who writes the summaries: the summarizer that the service is set up with, the provider of the session's model, or
# summarizers of the service by name, each of which takes over from those before it.
SERVICE: Final = "service"
PROVIDER: Final = "provider"
# The summarizer that calls no model: the ledger alone is its summary.
EXTRACTIVE: Final = "extractive"
_SUMMARIZERS: Final = re.compile(r"[\w-]{1,100}(?:,[\w-]{1,100}){0,9}")
# Fields that name a row of a table, with the available names.
NAMED: Final[Mapping[str, Collection[str]]] = MappingProxyType(
    {
        "counter": COUNTERS,
        "layout": LAYOUTS,
        "registry": ("foldline", *REGISTRIES),
        "transcript": STYLES,
        "headings": HEADINGS,
    }
)
# Additional figures of a compaction that a policy may report; `report` has their functions.
FIGURES: Final = (
    "original_count",
    "final_count",
    "original_tokens",
    "final_tokens",
    "tier",
    "warning_level",
    "files_deduped",
    "messages_removed",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """When and how a session is compacted. Shares are of the budget.

    `trigger` and `target`: when to compact, and how far down. `buffer_tokens`: tokens that both leave free at least.
    `keep_recent`: the newest messages that a summary leaves as they are. `summary_share`: the most that a rolling
    summary may take. `minimum_saving`: an automatic plan that saves less is empty. `reserve_tokens`: tokens kept for
    the answer instead of the layout's reserve. `branch_reserve_tokens`: the part of the window that the input of a
    branch summary leaves free.

    `counter` counts all of this; whether a view fits is always counted exactly. `layout` divides the context window.
    `registry` lists windows of models that Foldline's own table lacks. `transcript` is the style in which a summarizer
    gets a conversation, `headings` are those of the summary. `summarizer` is `service`, `provider` for the own
    compaction of the model's provider where it has one (`models.compactors`), or names of summarizers with commas
    between them. `splits_turns`: a summary that ends in the middle of a turn has a separate part for that turn.
    `lists_files`: the files that were read and changed stand below a summary. `trusts_usage`: a provider's reported
    usage replaces the counter's estimate. `report`: the `FIGURES` that a compaction reports. Only a preset that
    `is_loose` may have a target that is not below its trigger.

    `weighs_prefix`: edits have a price, because a provider's cache lacks all that follows them. Edits of a view that
    fits wait for the summary that they are made with, or else have to save more than that price. The target is a share
    of what the fixed parts leave of the budget, and has `least_target_tokens`, but at most half of that.
    `output_bytes` and `output_lines`: a tool's output with more of either is shown as an excerpt from the first view
    on; 0 is no limit. `max_images` and `max_image_bytes` (base64): older images are left out of a view with more; 0 is
    what the model's provider takes. `awaits_change`: a summary of what an interim summary stands for already waits
    until the view changes anyway, or is in no cache any more.
    """

    preset: str
    stages: tuple[Stage, ...]
    trigger: float = 0.80
    target: float = 0.50
    buffer_tokens: int = 0
    reserve_tokens: int | None = None
    branch_reserve_tokens: int = 16_384
    keep_recent: float = 0.30
    summary_share: float = 0.20
    minimum_saving: float = 0.05
    counter: str = EXACT
    layout: str = "foldline"
    registry: str = "foldline"
    transcript: str = "foldline"
    headings: str = "foldline"
    summarizer: str = SERVICE
    splits_turns: bool = False
    lists_files: bool = False
    trusts_usage: bool = False
    weighs_prefix: bool = False
    awaits_change: bool = False
    least_target_tokens: int = 0
    output_bytes: int = 0
    output_lines: int = 0
    max_images: int = 0
    max_image_bytes: int = 0
    report: tuple[str, ...] = ()
    is_loose: bool = False

    def __post_init__(self) -> None:
        """Refuse values that cannot work."""
        for name in SHARES:
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
                raise InvalidPolicy(
                    f"policy.{name}", f"must be a share of the budget, above 0 to 1, not {_shown(value)}"
                )
        self._check_plain()
        for name, available in NAMED.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in available:
                raise InvalidPolicy(
                    f"policy.{name}", f"{_shown(value)} is no {name}; available: {', '.join(available)}"
                )
        self._check_summarizer()
        for name in self.report:
            if name not in FIGURES:
                raise InvalidPolicy("policy.report", f"{name!r} is no figure; available: {', '.join(FIGURES)}")
        if self.target >= self.trigger and not self.is_loose:
            detail = (
                f"must be below the trigger {self.trigger}, not {self.target}; where only one is changed, give both"
            )
            raise InvalidPolicy("policy.target", detail)

    def _check_summarizer(self) -> None:
        name: object = self.summarizer
        if not isinstance(name, str) or not _SUMMARIZERS.fullmatch(name):
            detail = f"must be {SERVICE}, {PROVIDER}, or names of summarizers as in fast,spare; not {_shown(name)}"
            raise InvalidPolicy("policy.summarizer", detail)

    def _check_plain(self) -> None:
        for name, default in PLAIN.items():
            value = getattr(self, name)
            if name != "reserve_tokens" or value is not None:
                _value(value, default, f"policy.{name}")

    @property
    def heeds_usage(self) -> bool:
        """Whether plans go by what a provider counted; what counts exactly only learns from it."""
        return self.trusts_usage and self.counter != EXACT

    @property
    def writers(self) -> tuple[str, ...]:
        """The summarizers that it names, in order; none if it leaves the choice to the service."""
        return () if self.summarizer in {SERVICE, PROVIDER} else tuple(self.summarizer.split(","))

    def stage(self, name: str) -> Stage:
        """The policy's stage of this name; if it has none, the stage with default parameters."""
        return next((stage for stage in self.stages if stage.name == name), Stage(name))

    def on(self, reason: str) -> Policy:
        """The same policy with the parameters that its stages have for compactions of this reason, such as `asked`."""
        return replace(self, stages=tuple(stage.on(reason) for stage in self.stages))

    def naming(self, stages: list[str]) -> Policy:
        """The same policy with only these stages, in this order.

        Raises:
            InvalidPolicy: a name is not the name of a stage.
        """
        own = self.stages
        return replace(self, stages=tuple(stage_of(name, f"stages[{i}]", own) for i, name in enumerate(stages)))


def stage_of(value: Any, path: str, own_stages: Iterable[Stage] = ()) -> Stage:
    """A stage from its name or from `{"name": …, parameters…}`.

    Parameters that are not given come from the stage of that name in `own_stages`, if there is one; what that has
    instead of a given one for some reason of a compaction does not count then.

    Raises:
        InvalidPolicy: the stage or a parameter is unknown, or a value has the wrong type.
    """
    settings: Any = {"name": value} if isinstance(value, str) else value
    name = settings.get("name") if isinstance(settings, Mapping) else None
    if not isinstance(name, str) or name not in STAGE_PARAMETERS:
        said = f"{name!r} is no stage" if isinstance(name, str) else "must have the `name` of a stage"
        raise InvalidPolicy(path, f"{said}; available: {', '.join(STAGE_PARAMETERS)}")
    own = STAGE_PARAMETERS[name]
    given = {key: given for key, given in settings.items() if key != "name"}
    own_before: Mapping[str, Value] = next((stage.parameters for stage in own_stages if stage.name == name), {})
    before = {key: value for key, value in own_before.items() if _without_reason(key) not in given}
    if unknown := given.keys() - own:
        raise InvalidPolicy(f"{path}.{min(unknown)}", f"{name} takes {', '.join(sorted(own)) or 'no parameters'}")
    parameters = {key: _value(given[key], own[key], f"{path}.{key}") for key in given}
    return Stage(name, MappingProxyType({**before, **parameters}))


def _without_reason(name: str) -> str:
    """The parameter that this one replaces for one of the `REASONS`; itself if it is for all."""
    reason, _, replaced = name.partition("_")
    return replaced if reason in REASONS else name


def _value(value: Any, default: Value | None, path: str) -> Value:
    if isinstance(default, tuple):
        is_list = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
        if not is_list or len(value) > MOST_NAMES or len({*value}) < len(value):
            raise InvalidPolicy(path, f"must be a list of at most {MOST_NAMES} names, each once")
        return tuple(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidPolicy(path, f"must be true or false, not {_shown(value)}")
        return value
    if isinstance(default, float):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise InvalidPolicy(path, f"must be a share from 0 to 1, not {_shown(value)}")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise InvalidPolicy(path, "must be an integer of 0 or more, of a size that a context window can have")
    return value


def _shown(value: Any) -> str:
    """A value for an error's message: as JSON, and text between quotes."""
    return repr(value) if isinstance(value, str) else json.dumps(value, default=repr)


# Real policies have fewer. The limits exist because every plan goes through them.
MOST_STAGES: Final = 16
MOST_NAMES: Final = 100
LARGEST: Final = 1 << 53
# Fields that only a preset sets.
_OF_PRESETS: Final = frozenset({"preset", "is_loose"})


def policy_of(values: Mapping[str, Any], presets: Mapping[str, Policy], base: Policy | None = None) -> Policy:
    """A policy from `{preset?, …}`: the named preset with the given fields replaced.

    Without a `preset`, the fields replace those of `base`, or of the default preset if there is no base.

    Raises:
        InvalidPolicy: a field or value is unknown; the message names it and what is available.
    """
    _check_is_object(values)
    preset = values.get("preset", "foldline")
    if not isinstance(preset, str) or preset not in presets:
        raise InvalidPolicy("policy.preset", f"{_shown(preset)} is no preset; available: {', '.join(presets)}")
    start = base if base and "preset" not in values else presets[preset]
    known = {item.name for item in fields(Policy)} - _OF_PRESETS
    changes = {key: value for key, value in values.items() if key != "preset"}
    for key in changes:
        if key not in known:
            raise InvalidPolicy(f"policy.{key}", f"is no field of a policy; available: {', '.join(sorted(known))}")
    if "stages" in changes:
        given = changes["stages"]
        if not isinstance(given, list) or len(given) > MOST_STAGES:
            raise InvalidPolicy("policy.stages", f"must be a list of at most {MOST_STAGES} stages")
        changes["stages"] = tuple(stage_of(stage, f"policy.stages[{i}]", start.stages) for i, stage in enumerate(given))
    if "report" in changes:
        changes["report"] = _value(changes["report"], (), "policy.report")
    return replace(start, **changes)


def _check_is_object(values: Any) -> None:
    if not isinstance(values, Mapping):
        raise InvalidPolicy("policy", f'must be an object, as {{"preset": "pi"}}; found {_shown(values)}')


def to_stored(policy: Policy, presets: Mapping[str, Policy]) -> dict[str, Any]:
    """The policy as JSON with only the fields that differ from its preset, so that other versions can read it."""
    own = to_json(presets[policy.preset])
    return {key: value for key, value in to_json(policy).items() if key == "preset" or value != own[key]}


def from_stored(values: Mapping[str, Any], presets: Mapping[str, Policy]) -> Policy:
    """The policy that `to_stored` wrote; unknown fields, written by another version, are ignored."""
    known = {item.name for item in fields(Policy)} - _OF_PRESETS | {"preset"}
    return policy_of({key: value for key, value in values.items() if key in known}, presets)


def to_json(policy: Policy) -> dict[str, Any]:
    """The policy as JSON; `policy_of` reads it back."""
    values = {item.name: getattr(policy, item.name) for item in fields(Policy) if item.name != "is_loose"}
    values["stages"] = [{"name": stage.name, **stage.parameters} for stage in policy.stages]
    return values
