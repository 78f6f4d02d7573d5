"""Providers that compact a conversation themselves, and what that takes. A new one is a row here and in the worker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.models.windows import provider_of


class Compactor(NamedTuple):
    """A provider's own compaction, and where it is documented.

    `format` is that of its messages. `models` matches the names of the models that have it. Requests with its block
    need `request_headers`. It `takes_instructions` if a caller may say what the summary should keep.
    """

    name: str
    format: str
    models: re.Pattern[str]
    source: str
    request_headers: Mapping[str, str] = MappingProxyType({})
    takes_instructions: bool = False


COMPACTORS: Final[Mapping[str, Compactor]] = MappingProxyType(
    {
        compactor.name: compactor
        for compactor in (
            Compactor(
                "anthropic",
                "anthropic",
                re.compile(
                    r"claude-(?:(?:fable|mythos)-(?:5(?:[-.]1)?|preview)|opus-(?:4[-.][678]|5(?:[-.]5)?)|sonnet-(?:4[-.]6|5))"
                    r"(?:-\d{8})?"
                ),
                "platform.claude.com/docs, Compaction on demand",
                MappingProxyType({"anthropic-beta": "compact-2026-09-04"}),
                takes_instructions=True,
            ),
            Compactor(
                "openai",
                "responses",
                re.compile(r"(?:gpt-[5-9]|gpt-4\.1|gpt-4o|o[134]|codex)[\w.-]*"),
                "platform.openai.com/docs, Compaction; the endpoint's list of models",
            ),
        )
    }
)


def compactor_of(model: str) -> Compactor | None:
    """The compactor of a model's own provider; None if it has none, or if another cloud serves the model."""
    compactor = COMPACTORS.get(provider_of(model))
    return compactor if compactor and compactor.models.fullmatch(name_of(model).lower()) else None


def name_of(model: str) -> str:
    """The name by which a model's own provider knows it: `anthropic/claude-opus-5` is `claude-opus-5`."""
    return model.rpartition("/")[2]
