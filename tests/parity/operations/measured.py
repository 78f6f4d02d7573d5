"""Outlines of recorded conversations, counted as the recorded system does, its own placeholders included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from foldline.engine.edits import LiveEdits
from foldline.engine.facts import Facts
from foldline.engine.models.budget import Goals
from foldline.engine.outline import Outline, outline_of
from foldline.engine.planning.batches import place_all
from foldline.engine.policies.policy import Stage
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.engine.tokens.measures import Measure, measure_of
from tests.parity.operations.counting import message_of
from tests.parity.vectors import Json


class Said(NamedTuple):
    """What a system says in a view instead of what it took out; recorded figures count these texts."""

    cleared: str = ""
    superseded: str = ""
    marker: str = ""
    stub: str = ""


def measure_for(counter: str, said: Said, provider: str | None = None) -> Measure:
    """The measure of a counter with a system's own texts; nothing is too little to be hidden."""
    estimate = ESTIMATES[counter]

    def message(text: str) -> int:
        return estimate.message + estimate.text(text, provider) if text else 0

    return replace(
        measure_of(counter, provider),
        cleared=estimate.text(said.cleared, provider),
        pointer=estimate.text(said.superseded, provider),
        marker=message(said.marker),
        stub=message(said.stub),
        least_pending=0,
    )


def outline_of_vector(messages: Iterable[Json], measure: Measure) -> Outline:
    """The outline of recorded messages; the seq of each is its index + 1. What a system says of them names no call."""
    placed, _ = place_all(message_of(_plain(message)) for message in messages)
    facts = (entry._replace(details=entry.details.known()._replace(placeholders=())) for entry in placed)
    return outline_of(map(measure.counted, facts), LiveEdits(), measure)


def _plain(message: Json) -> Json:
    """A message that was put in for the user opens no turn: as the developer's it is none of the user's."""
    return {**message, "role": "developer"} if message.get("meta") else message


def goals_for(target: int, limit: int | None = None) -> Goals:
    """Goals of a plan that aims at so many tokens, and keeps to a limit, by itself the same."""
    return Goals(
        limit=target if limit is None else limit,
        trigger=0,
        target=target,
        keep_recent=0,
        summary_max=0,
        minimum_saving=0,
    )


def stage(name: str, **parameters: object) -> Stage:
    """A stage with the parameters of a vector."""
    return Stage(name, parameters)  # type: ignore[arg-type]


def results_of(outline: Outline) -> list[Facts]:
    """The results in view, oldest first."""
    return [entry for _, entry in outline.results]
