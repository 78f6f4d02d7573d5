"""Providers that compact a conversation themselves, and what that takes.

A new one is a row here and in the worker's `summarizers.provider`, and the settings for its key and address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.messages import JsonObject
from foldline.engine.models.windows import provider_of


class Compactor(NamedTuple):
    """A provider's own compaction, and where it is documented.

    `format` is that of its messages, and `blank` a message of the shape of its answers. `models` matches the names of
    the models that have it. Requests with its block need `request_headers`. It `takes_instructions` if a caller may say
    what the summary should keep.
    """

    name: str
    format: str
    blank: JsonObject
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
                {"role": "assistant", "content": [{"type": "compaction", "content": "-", "signature": "-"}]},
                # From these versions on; a model that has none yet refuses.
                re.compile(
                    r"claude-(?:fable-.+|mythos-.+|(?:(?:opus|sonnet)-(?:4[-.][6-9]|[5-9])|haiku-[5-9])(?:[-.@].*)?)"
                ),
                "platform.claude.com/docs, Compaction on demand",
                MappingProxyType({"anthropic-beta": "compact-2026-09-04"}),
                takes_instructions=True,
            ),
            Compactor(
                "openai",
                "responses",
                {"type": "compaction", "id": "-", "encrypted_content": "-"},
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
