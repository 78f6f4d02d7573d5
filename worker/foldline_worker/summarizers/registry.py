"""The summarizers by name: the ledger alone, the endpoint in the settings, and those of `FOLDLINE_SUMMARIZERS`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Final

from foldline.engine.models.windows import known_model
from foldline.engine.policies.policy import EXTRACTIVE
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.log.jobs.breakers import Admission, Breakers
from foldline.settings import InvalidSettings, Settings, variable
from foldline.summarizer_file import OPENAI, summarizer_rows, writers_of
from foldline.telemetry.logs import Contained, describe
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.tracing import Tracing
from foldline.telemetry.worker_metrics import WorkerMetrics
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers import extractive
from foldline_worker.summarizers.contract import (
    NOTHING_KEPT,
    ChunkTexts,
    ProviderDeclined,
    Summarizer,
    SummarizerHeldBack,
    SummarizerUnavailable,
)

if TYPE_CHECKING:
    from foldline_worker.summarizers.calls.budgets import Budgets

logger = logging.getLogger(__name__)

NO_MODEL: Final = "none"
OTHER_MODEL: Final = "other"
NO_KEY: Final = "this worker has no key for it"
BUDGET_SPENT: Final = "the tenant's budget for summaries is spent for today"
UNKNOWN: Final = "this worker has no summarizer {name}"
NEEDED: Final = ("summarizer_base_url", "summarizer_model")


def order_of(settings: Settings) -> Sequence[str]:
    """The names of the summarizers that write, the first one first; each takes over from those before it."""
    return writers_of(settings)


def model_of(settings: Settings) -> str | None:
    """The model of the first summarizer; None if it calls none."""
    first = order_of(settings)[0]
    row = summarizer_rows(settings).get(first)
    return row.model if row else None


def check_summarizer(settings: Settings) -> None:
    """Check that the settings name summarizers and have what they need, before anything else is started.

    Raises:
        InvalidSettings: no summarizer has this name, or it lacks a setting.
    """
    names, rows = order_of(settings), summarizer_rows(settings)
    there_are = (EXTRACTIVE, OPENAI, *(name for name in rows if name != OPENAI))
    unknown = [name for name in names if name not in there_are]
    if unknown:
        raise InvalidSettings(
            [f"{variable('summarizer')}: there is no {unknown[0]!r}; choose {' or '.join(there_are)}"]
        )
    missing = [variable(setting) for setting in NEEDED if not getattr(settings, setting)]
    if OPENAI in names and missing:
        raise InvalidSettings([f"{variable('summarizer')}={OPENAI} also needs {' and '.join(missing)}"])
    if EXTRACTIVE in names[:-1]:
        raise InvalidSettings([f"{variable('summarizer')}: {EXTRACTIVE} never fails, so nothing can stand after it"])
    if len({*names}) < len(names):
        raise InvalidSettings([f"{variable('summarizer')}: one name is given twice"])
    for row in rows.values():
        _ = row.secret


def create_summarizer(
    settings: Settings,
    tracing: Tracing | None = None,
    metrics: WorkerMetrics | None = None,
    breakers: Breakers | None = None,
) -> Summarizer:
    """The summarizers that the settings name, with the providers that they have keys for.

    With `breakers`, one that calls a model is held back when it fails too often.

    Raises:
        InvalidSettings: no summarizer has this name, or it lacks a setting.
    """
    check_summarizer(settings)
    metrics = metrics or Metrics(())
    rows, budgets = summarizer_rows(settings), _budgets(settings)
    models: dict[str, Summarizer] = {
        name: Metered(
            _maker("llm")(name, row, tracing, broker_url=settings.broker_url, budgets=budgets),
            metrics,
            provider=name,
            model=row.model,
        )
        for name, row in rows.items()
    }
    if breakers is not None:
        models = {name: Guarded(summarizer, name, breakers) for name, summarizer in models.items()}
    writers = {EXTRACTIVE: Metered(extractive.create(), metrics, provider=EXTRACTIVE, model=None), **models}
    providers = {
        name: MeteredProvider(_maker("provider")(settings, name, tracing), metrics, budgets)
        for name in settings.compactor_keys
    }
    return SummarizerChain(writers, order_of(settings), providers, BudgetWatch(budgets, metrics))


def _maker(kind: str) -> Callable[..., Summarizer]:
    """`create` of the module of this kind, which is loaded where the settings name one: it brings an HTTP client."""
    create: Callable[..., Summarizer] = import_module(f"foldline_worker.summarizers.{kind}").create
    return create


def _budgets(settings: Settings) -> Budgets | None:
    """The budgets of the settings; None where no model is called, so that what counts them need not be loaded."""
    if not (summarizer_rows(settings) or settings.compactor_keys):
        return None
    found: Budgets = import_module("foldline_worker.summarizers.calls.budgets").Budgets.of(settings)
    return found


class SummarizerChain:
    """Each request's summarizer: the provider that it names, or else the first that gives an answer.

    These are the writers that the request names, or else those of `usual`, in order. None of them that calls a model
    is asked once a budget of the payer is spent.
    """

    def __init__(
        self,
        writers: Mapping[str, Summarizer],
        usual: Sequence[str],
        providers: Mapping[str, Summarizer],
        watch: BudgetWatch | None = None,
    ) -> None:
        self._writers = writers
        self._usual = usual
        self._providers = providers
        self._watch = watch or BudgetWatch(None, Metrics(()))

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`. A summary of the ledger alone is `degraded` if another summarizer was to write it.

        It is not made where a model refused the request and another one is to be tried.
        """
        call = request.provider
        if call is None:
            return self._written(request, cancellation, kept)
        if call.compactor not in self._providers:
            raise ProviderDeclined(call.compactor, NO_KEY)
        if self._watch.is_spent(request.payer):
            raise ProviderDeclined(call.compactor, BUDGET_SPENT)
        return self._providers[call.compactor].summarize(request, cancellation, kept)

    def _written(self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts) -> SummaryDraft:
        failures: list[SummarizerUnavailable] = []
        if {*self._order(request)} != {EXTRACTIVE} and self._watch.is_spent(request.payer):
            request = replace(request, is_plain=True)
        for name in self._order(request):
            if name == EXTRACTIVE and request.if_refused and any(error.is_refusal for error in failures):
                break
            try:
                draft = self._named(name).summarize(request, cancellation, kept)
            except SummarizerUnavailable as error:
                logger.warning("summarizer %s: %s", name, error.reason)
                failures.append(error)
                # What the claim saw may be minutes old for the next one.
                request = replace(request, are_writers_well=False)
                continue
            is_without_model = name == EXTRACTIVE and (bool(failures) or request.is_plain)
            return replace(draft, degraded=draft.degraded or is_without_model)
        raise min(failures, key=partial(_rank, is_tried_again=request.if_refused is not None))

    def _order(self, request: SummaryInput) -> Sequence[str]:
        names = () if request.is_plain else request.writers or self._usual
        return (*names, EXTRACTIVE) if (request.falls_back or request.is_plain) and EXTRACTIVE not in names else names

    def _named(self, name: str) -> Summarizer:
        writer = self._writers.get(name)
        if writer is None:
            raise SummarizerUnavailable(UNKNOWN.format(name=name))
        return writer

    def close(self) -> None:
        """See `Summarizer`."""
        for summarizer in self._all():
            summarizer.close()

    def _all(self) -> Iterator[Summarizer]:
        yield from self._writers.values()
        yield from self._providers.values()


class BudgetWatch:
    """Looks whether a budget is spent, and counts how often it is."""

    def __init__(self, budgets: Budgets | None, metrics: WorkerMetrics) -> None:
        self._budgets = budgets
        self._metrics = metrics

    def is_spent(self, payer: str) -> bool:
        """Whether no model may be called for this payer today."""
        spent = None if self._budgets is None else self._budgets.spent(payer)
        if spent is None:
            return False
        self._metrics.count(spent)
        logger.info("no model is called: %s", variable(spent.setting))
        return True


def _rank(error: SummarizerUnavailable, *, is_tried_again: bool) -> tuple[float, bool]:
    """Where an error stands among those of one request, the first of which is raised.

    A job waits only if there was nobody to ask. A refusal comes first where it leads to another request.
    """
    return error.seconds if isinstance(error, SummarizerHeldBack) else 0, is_tried_again and not error.is_refusal


class Guarded:
    """Wraps a summarizer: it is not called while it is held back, and its failures are counted for all workers."""

    def __init__(self, summarizer: Summarizer, name: str, breakers: Breakers) -> None:
        self._summarizer = summarizer
        self._name = name
        self._breakers = breakers

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`.

        Raises:
            SummarizerHeldBack: it failed too often.
        """
        admission = Admission(0) if request.are_writers_well else self._breakers.admit(self._name)
        if isinstance(admission, float):
            raise SummarizerHeldBack(self._name, admission)
        try:
            draft = self._summarizer.summarize(request, cancellation, kept)
        except SummarizerUnavailable as error:
            self._note(admission, error)
            raise
        self._note(admission)
        return draft

    def _note(self, admission: Admission, error: SummarizerUnavailable | None = None) -> None:
        """Note how a call ended. One that refused this request works; an error here must not lose what was written."""
        with Contained(partial(_report, self._name)):
            if error is None or error.is_refusal:
                self._breakers.succeeded(self._name, admission)
            elif self._breakers.failed(self._name, admission, error.retry_after_seconds):
                logger.warning("summarizer %s failed too often and is not called for a while", self._name)

    def close(self) -> None:
        """See `Summarizer`."""
        self._summarizer.close()


class Metered:
    """Wraps a summarizer and counts its summaries, with its name and model as labels."""

    def __init__(self, summarizer: Summarizer, metrics: WorkerMetrics, *, provider: str, model: str | None) -> None:
        self._summarizer = summarizer
        self._metrics = metrics
        self._names = (provider, model or NO_MODEL)
        metrics.expect_summarizer(*self._names)

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`."""
        return _counted(partial(self._summarizer.summarize, request, cancellation, kept), self._metrics, self._names)

    def close(self) -> None:
        """See `Summarizer`."""
        self._summarizer.close()


class MeteredProvider:
    """The same for the own compaction of models' providers, with the model of each call as a label.

    What they used is counted in the payer's budgets.
    """

    def __init__(self, summarizer: Summarizer, metrics: WorkerMetrics, budgets: Budgets | None) -> None:
        self._summarizer = summarizer
        self._metrics = metrics
        self._budgets = budgets

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`."""
        call = request.provider
        names = (call.compactor, _listed(call.model)) if call else (OTHER_MODEL, OTHER_MODEL)
        try:
            draft = _counted(partial(self._summarizer.summarize, request, cancellation, kept), self._metrics, names)
        except ProviderDeclined as error:
            self._spend(request, error.usage)
            raise
        self._spend(request, draft.usage)
        return draft

    def _spend(self, request: SummaryInput, usage: Mapping[str, int]) -> None:
        known = known_model(request.provider.model) if request.provider else None
        if self._budgets is not None:
            self._budgets.spend(request.payer, usage, known.prices if known else None)

    def close(self) -> None:
        """See `Summarizer`."""
        self._summarizer.close()


def _report(name: str, error: Exception) -> None:
    logger.warning("how summarizer %s ended is not noted: %s", name, describe(error))


def _counted(summarize: Callable[[], SummaryDraft], metrics: WorkerMetrics, names: tuple[str, str]) -> SummaryDraft:
    started = perf_counter()
    try:
        draft = summarize()
    except (SummarizerUnavailable, ProviderDeclined):
        metrics.not_summarized(*names)
        raise
    metrics.summarized(*names, perf_counter() - started, draft.usage)
    return draft


def _listed(model: str) -> str:
    """The name of a model as a label: callers choose models, and a label must not have any value."""
    known = known_model(model)
    return known.name if known else OTHER_MODEL
