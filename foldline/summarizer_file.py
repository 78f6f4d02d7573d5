"""Named summarizers as data: a TOML file, or JSON in the setting itself."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn, Self

import httpx
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from foldline.engine.models.compactors import name_of
from foldline.engine.models.prices import Prices
from foldline.engine.models.windows import known_model
from foldline.engine.policies.policy import EXTRACTIVE, PROVIDER, SERVICE
from foldline.log.storage.store import RidingModel
from foldline.settings import InvalidSettings, Settings, variable

SETTING: Final = variable("summarizers")
_NO_PATH: Final = re.compile(r"[\n\r\0={\[\"]")
# Names that need no row: the ledger alone, and the endpoint in the settings.
OPENAI: Final = "openai"
RESERVED: Final = (EXTRACTIVE, OPENAI, SERVICE, PROVIDER)
# The format of a session's messages in each wire format.
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {"openai-chat": "openai", "openai-responses": "responses", "anthropic": "anthropic", "gemini": "gemini"}
)


class NamedSummarizer(BaseModel):
    """A summarizer that calls a model: where, in which wire format, with which key, and within which bounds.

    Without `base_url` it is the provider's own address. The key stands in the row, in a file, or there is none.
    `window` and `output_tokens` are needed only for models that Foldline does not know. `input_price` and
    `output_price` are US dollars for a million tokens, where they are not the published ones. `requests_per_minute` and
    `tokens_per_minute` are what the account allows; calls over them wait. `rides_cache` is the model of those
    sessions whose agents call this model with this account, so that their views are in its provider's cache.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: str = Field(min_length=1)
    wire: Literal["openai-chat", "openai-responses", "anthropic", "gemini"] = "openai-chat"
    base_url: str | None = Field(None, pattern=r"^https?://")
    key: SecretStr | None = None
    key_file: str | None = Field(None, min_length=1)
    window: int | None = Field(None, ge=2000)
    output_tokens: int | None = Field(None, ge=100)
    input_tokens: int = Field(100_000, ge=1000)
    concurrency: int | None = Field(None, ge=1, le=256)
    requests_per_minute: int | None = Field(None, ge=1)
    tokens_per_minute: int | None = Field(None, ge=4000)
    input_price: float | None = Field(None, ge=0)
    cached_input_price: float | None = Field(None, ge=0)
    output_price: float | None = Field(None, ge=0)
    timeout_seconds: float = Field(120.0, gt=0)
    rides_cache: str | None = None

    @field_validator("key")
    @classmethod
    def _check_letters(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not (key.get_secret_value().isascii() and key.get_secret_value().isprintable()):
            raise PydanticCustomError("key", "a key has printable ASCII characters only")
        return key

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, url: str | None) -> str | None:
        try:
            return url if url is None or httpx.URL(url).host else _no_address()
        except httpx.InvalidURL:
            return _no_address()

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        if self.key is not None and self.key_file is not None:
            raise PydanticCustomError("key", "give `key` or `key_file`, not both")
        if (self.input_price is None) != (self.output_price is None):
            raise PydanticCustomError("price", "give `input_price` and `output_price` together")
        if self.rides_cache is not None and name_of(self.rides_cache) != self.model:
            raise PydanticCustomError("riding", "`rides_cache` is this model as sessions name it: provider/model")
        if self.rides_cache and not (self.prices and self.prices.rates):
            raise PydanticCustomError("riding", "a row that `rides_cache` needs a `cached_input_price`")
        return self

    @property
    def prices(self) -> Prices | None:
        """What its tokens cost: as the row says, or else as published; None where that is not known."""
        if self.input_price is not None:
            return Prices(input=self.input_price, cached_input=self.cached_input_price, output=self.output_price)
        known = known_model(self.model)
        return known.prices if known else None

    @property
    def secret(self) -> SecretStr | None:
        """The key.

        Raises:
            InvalidSettings: the file with it cannot be read.
        """
        if self.key_file is None:
            return self.key
        try:
            return SecretStr(Path(self.key_file).read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            problem = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InvalidSettings([f"{SETTING}: the key file {self.key_file} cannot be read: {problem}"]) from None


def _no_address() -> NoReturn:
    raise PydanticCustomError("address", "give an http or https address")


def read_summarizers(given: str | None) -> Mapping[str, NamedSummarizer]:
    """The summarizers of a TOML file, or of JSON, by name; none if nothing is given.

    Raises:
        InvalidSettings: the file cannot be read, or a row is wrong. The message has the row and its field, and no key.
    """
    if given is None:
        return {}
    tables = _tables(given)
    problems: list[str] = []
    found: dict[str, NamedSummarizer] = {}
    for name, table in tables.items():
        if name in RESERVED or not name.replace("-", "").replace("_", "").isalnum():
            problems.append(
                f"{SETTING}: {name!r} is no name for a summarizer: use letters, digits, - and _; {_taken()}"
            )
            continue
        try:
            found[name] = NamedSummarizer.model_validate(table)
        except ValidationError as error:
            problems += (
                f"{SETTING}: {'.'.join((name, *map(str, detail['loc'])))}: {detail['msg']}"
                for detail in error.errors(include_input=False, include_url=False)
            )
    if problems:
        raise InvalidSettings(problems)
    return found


def summarizer_rows(settings: Settings) -> Mapping[str, NamedSummarizer]:
    """The summarizers that call models, by name: those of the file, and the endpoint in the settings.

    Raises:
        InvalidSettings: see `read_summarizers`.
    """
    rows = dict(read_summarizers(settings.summarizers))
    if settings.summarizer_base_url and settings.summarizer_model:
        rows[OPENAI] = NamedSummarizer(
            model=settings.summarizer_model,
            base_url=settings.summarizer_base_url,
            key=settings.summarizer_api_key,
            window=settings.summarizer_window,
            output_tokens=settings.summarizer_output_tokens,
            input_tokens=settings.summarizer_input_tokens,
            timeout_seconds=settings.summarizer_timeout_seconds,
        )
    usual = {"concurrency": settings.calls_at_once}
    return {name: row if row.concurrency else row.model_copy(update=usual) for name, row in rows.items()}


def summarizer_names(settings: Settings) -> frozenset[str]:
    """The names that a policy may choose from.

    Raises:
        InvalidSettings: see `read_summarizers`.
    """
    return frozenset((EXTRACTIVE, *summarizer_rows(settings)))


def riding_models(settings: Settings) -> Mapping[str, RidingModel]:
    """The models of the summarizers that may be sent the cached beginning of a view, by the summarizers' names.

    Raises:
        InvalidSettings: see `read_summarizers`.
    """
    rows = summarizer_rows(settings)
    return {name: RidingModel(row.rides_cache, FORMATS[row.wire]) for name, row in rows.items() if row.rides_cache}


def writers_of(settings: Settings) -> tuple[str, ...]:
    """The names of the summarizers that write by default, the first one first; each takes over from those before it."""
    return tuple(name.strip() for name in settings.summarizer.split(","))


def _taken() -> str:
    return f"{', '.join(RESERVED)} are taken"


def _tables(given: str) -> Mapping[str, Any]:
    is_json = given.lstrip().startswith("{")
    if not is_json and _NO_PATH.search(given):
        # It may have keys, so no message quotes it.
        raise InvalidSettings([f"{SETTING}: give the path of a TOML file, or JSON that begins with {{"])
    try:
        tables = json.loads(given) if is_json else tomllib.loads(Path(given).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidSettings([f"{SETTING}{'' if is_json else f' {given}'}: {_cause(error)}"]) from None
    except OSError as error:
        raise InvalidSettings([f"{SETTING} {given} cannot be read: {error.strerror}"]) from None
    return tables if isinstance(tables, dict) else {}


def _cause(error: Exception) -> str:
    """Where the text is wrong, without the text."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at character {error.pos}"
    return str(error) if isinstance(error, tomllib.TOMLDecodeError) else "no text"
