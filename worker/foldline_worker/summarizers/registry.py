"""The summarizers by their names in FOLDLINE_SUMMARIZER. A new one is a module and a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import Final

from foldline.engine.models.windows import known_model
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.settings import InvalidSettings, Settings, variable
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.tracing import Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers import extractive, llm, provider
from foldline_worker.summarizers.contract import ProviderDeclined, Summarizer, SummarizerUnavailable

NO_MODEL: Final = "none"
OTHER_MODEL: Final = "other"
NO_KEY: Final = "this worker has no key for it"


@dataclass(frozen=True, slots=True)
class Registered:
    """How to make a summarizer from the settings, and which settings it needs."""

    create: Callable[[Settings, Tracing | None], Summarizer]
    needs: tuple[str, ...] = ()


SUMMARIZERS: Final[Mapping[str, Registered]] = MappingProxyType(
    {
        extractive.EXTRACTIVE: Registered(extractive.create),
        llm.OPENAI: Registered(llm.create, needs=("summarizer_base_url", "summarizer_model")),
    }
)


def create_summarizer(settings: Settings, tracing: Tracing | None = None) -> Summarizer:
    """The summarizer that the settings name, with the providers that they have keys for.

    Raises:
        InvalidSettings: no summarizer has this name, or it lacks a setting.
    """
    check_summarizer(settings)
    providers = {name: provider.create(settings, name, tracing) for name in settings.compactor_keys}
    summarizer = SUMMARIZERS[settings.summarizer].create(settings, tracing)
    return _Chosen(summarizer, providers) if providers else summarizer


class _Chosen:
    """Each request's summarizer: the provider that it names, or else the one that the settings name."""

    def __init__(self, summarizer: Summarizer, providers: Mapping[str, Summarizer]) -> None:
        self._summarizer = summarizer
        self._providers = providers

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """See `Summarizer`."""
        call = request.provider
        if call is None:
            return self._summarizer.summarize(request, cancellation)
        if call.compactor not in self._providers:
            raise ProviderDeclined(call.compactor, NO_KEY)
        return self._providers[call.compactor].summarize(request, cancellation)

    def close(self) -> None:
        """See `Summarizer`."""
        for summarizer in (self._summarizer, *self._providers.values()):
            summarizer.close()


def check_summarizer(settings: Settings) -> None:
    """Check that the settings name a summarizer and have what it needs, before anything else is started.

    Raises:
        InvalidSettings: no summarizer has this name, or it lacks a setting.
    """
    name = settings.summarizer
    if name not in SUMMARIZERS:
        raise InvalidSettings([f"{variable('summarizer')}: there is no {name!r}; choose {' or '.join(SUMMARIZERS)}"])
    missing = [variable(setting) for setting in SUMMARIZERS[name].needs if not getattr(settings, setting)]
    if missing:
        raise InvalidSettings([f"{variable('summarizer')}={name} also needs {' and '.join(missing)}"])


def model_of(settings: Settings) -> str | None:
    """The model that writes the summaries; None if the summarizer uses none."""
    return settings.summarizer_model if "summarizer_model" in SUMMARIZERS[settings.summarizer].needs else None


def _listed(model: str) -> str:
    """The name of a model as a label: callers choose models, and a label must not have any value."""
    known = known_model(model)
    return known.name if known else OTHER_MODEL


class Metered:
    """Wraps a summarizer and counts its summaries, with `provider` and `model` as labels."""

    def __init__(self, summarizer: Summarizer, metrics: Metrics, *, provider: str, model: str | None) -> None:
        self._summarizer = summarizer
        self._metrics = metrics
        self._names = (provider, model or NO_MODEL)
        metrics.expect_summarizer(*self._names)

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """See `Summarizer`."""
        started = perf_counter()
        call = request.provider
        names = (call.compactor, _listed(call.model)) if call else self._names
        try:
            draft = self._summarizer.summarize(request, cancellation)
        except (SummarizerUnavailable, ProviderDeclined):
            self._metrics.not_summarized(*names)
            raise
        self._metrics.summarized(*names, perf_counter() - started, draft.usage)
        return draft

    def close(self) -> None:
        """See `Summarizer`."""
        self._summarizer.close()
