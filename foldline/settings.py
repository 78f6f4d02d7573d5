"""What a process is configured with: one frozen `Settings`, read from FOLDLINE_ variables and passed down.

Nothing else in the project reads the environment. Values that are secrets, or may carry one, are left out of `repr` and
of every error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from foldline.log.storage.engines import CONNECTIONS

PREFIX = "FOLDLINE_"
LOOPBACK = "127.0.0.1"
# Beside those of the requests: the watch over jobs has one, and so has each port for the readiness and for what waits.
OTHER_CONNECTIONS = 5


class InvalidSettings(Exception):
    """A setting cannot be used; the message has one line for each, and `problems` holds the lines."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Settings(BaseSettings):
    """Every knob of a Foldline process. A field `name` is read from the variable FOLDLINE_NAME."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )

    host: str = Field(LOOPBACK, min_length=1, description="Address to listen on; without API keys always loopback.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    database_url: str = Field(
        "sqlite:///foldline.db", min_length=1, repr=False, description="SQLAlchemy address of the database."
    )
    database_connections: int = Field(
        CONNECTIONS,
        ge=1,
        le=2000,
        description="Most connections of a process to PostgreSQL, or readers of an SQLite file; at least "
        "FOLDLINE_THREADS + 5.",
    )
    broker_url: str = Field(
        "memory://", min_length=1, repr=False, description="Address of the broker; memory:// stays inside one process."
    )
    api_keys: SecretStr = Field(
        SecretStr(""), description="Who may call, as tenant:key,tenant:key; empty serves one tenant on loopback only."
    )

    summarizer: str = Field(
        "extractive",
        min_length=1,
        description="Who writes summaries: extractive needs no LLM, openai calls a compatible endpoint.",
    )
    summarizer_base_url: str | None = Field(None, description="The endpoint's address, with /v1.")
    summarizer_api_key: SecretStr | None = Field(None, description="Key for the endpoint, if it needs one.")
    summarizer_model: str | None = Field(None, description="Model the endpoint is asked for.")
    summarizer_timeout_seconds: float = Field(120.0, gt=0, description="Longest time one call to it may take.")
    summarizer_input_tokens: int = Field(
        100_000, ge=1000, description="Most tokens of history given to one call; longer ranges take several."
    )

    lease_seconds: int = Field(
        120,
        ge=1,
        description="How long a worker may be silent before another takes its job; it reports more often.",
    )
    sweep_seconds: float = Field(
        15.0, gt=0, description="Time between looks for waiting jobs nobody was told of, and for lapsed leases."
    )
    retry_seconds: int = Field(
        30, ge=0, description="Pause after a failed summary before the next automatic one; doubles with each in a row."
    )
    retry_seconds_max: int = Field(600, ge=0, description="Longest such pause, also if the summarizer asks for more.")
    max_attempts: int = Field(3, ge=1, description="Workers that may die with one job before it ends as failed.")
    worker_concurrency: int = Field(4, ge=1, le=256, description="Summaries a worker process writes at the same time.")
    stop_seconds: float = Field(10.0, ge=0, description="Time running work is given to hand itself back on shutdown.")

    hook_timeout_seconds: float = Field(10.0, gt=0, description="Longest time a hook may take to answer.")
    hooks_fail: Literal["open", "closed"] = Field(
        "open", description="Where a hook fails: open goes on without it, closed fails the job."
    )

    max_body_bytes: int = Field(32 * 1024 * 1024, ge=1024, description="Largest request body; larger ones get a 413.")
    threads: int = Field(16, ge=1, le=1024, description="Most API requests worked on at the same time.")
    wait_seconds_max: float = Field(60.0, ge=0, description="Longest `Prefer: wait` a request may ask for.")
    idempotency_hours: float = Field(24.0, gt=0, description="How long the answer to an Idempotency-Key is kept.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe log line shown.")
    log_format: Literal["text", "json"] = Field("text", description="Log lines for people, or one JSON object a line.")

    metrics_host: str = Field(LOOPBACK, min_length=1, description="Address that FOLDLINE_METRICS_PORT listens on.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port on which each process answers /metrics, /healthz and /readyz without a key, and the API "
        "/queues; none unless set.",
    )
    traces_url: str | None = Field(
        None, description="Where traces go, by OTLP over HTTP, as in http://127.0.0.1:4318/v1/traces."
    )
    task_events: bool = Field(
        default=False,
        description="Whether workers tell Flower of their tasks from their start on, which makes summaries begin a "
        "little later; else it asks them to, within 5 s.",
    )
    flower_host: str = Field(LOOPBACK, min_length=1, description="Address that Flower listens on.")
    flower_port: int = Field(5555, ge=0, le=65535, description="Port that Flower listens on; 0 picks a free one.")
    flower_login: SecretStr | None = Field(
        None, description="Who may use Flower, as user:password; it does not start without."
    )

    @field_validator("api_keys")
    @classmethod
    def _check_api_keys(cls, keys: SecretStr) -> SecretStr:
        pairs = _parse_api_keys(keys)
        if not all(tenant and key for tenant, key in pairs):
            raise PydanticCustomError("api_keys", "write it as tenant:key,tenant:key, with no empty tenant or key")
        if len({key for _, key in pairs}) < len(pairs):
            raise PydanticCustomError("api_keys", "one key is listed twice; each key belongs to one tenant")
        return keys

    @field_validator("flower_login")
    @classmethod
    def _check_flower_login(cls, login: SecretStr | None) -> SecretStr | None:
        if login is not None and not _is_login(login.get_secret_value()):
            raise PydanticCustomError("login", "write it as user:password, in ASCII and with neither of them empty")
        return login

    @field_validator("summarizer_base_url", "traces_url")
    @classmethod
    def _check_base_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        if not _is_http(url):
            raise PydanticCustomError("address", "give an http or https address, with its path")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _check_connections(self) -> Self:
        needed = self.threads + OTHER_CONNECTIONS
        if self.database_connections < needed:
            template = (
                f"{variable('database_connections')} must be at least {needed}: one for each of "
                f"{variable('threads')}, and {OTHER_CONNECTIONS} more"
            )
            raise PydanticCustomError("connections", template)
        return self

    @property
    def tenants_by_key(self) -> Mapping[str, str]:
        """Which tenant each key belongs to; empty when no keys are set. Never log it."""
        return {key: tenant for tenant, key in _parse_api_keys(self.api_keys)}

    @property
    def bind_host(self) -> str:
        """The address to listen on: `host`, but loopback as long as there are no keys."""
        return self.host if self.tenants_by_key or _is_loopback(self.host) else LOOPBACK

    @property
    def has_memory_broker(self) -> bool:
        """Whether messages stay inside this process, so that the worker has to run in it too."""
        return self.broker_url.startswith("memory:")


def load_settings(**overrides: Any) -> Settings:
    """The settings of this process: `overrides` first, then the environment, then defaults.

    Raises:
        InvalidSettings: a value cannot be used; the message names the variable, never its value.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise InvalidSettings([_problem(dict(detail)) for detail in error.errors(include_input=False)]) from None


def unknown_variables() -> list[str]:
    """Variables of the environment that look like settings and are none."""
    known = {variable(name) for name in Settings.model_fields}
    return sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)


def _problem(detail: Mapping[str, Any]) -> str:
    message = str(detail["msg"])
    names = ".".join(str(name) for name in detail["loc"])
    return f"{variable(names)}: {message}" if names else message


def variable(field: str) -> str:
    """The variable that a field is read from."""
    return PREFIX + field.upper()


def _parse_api_keys(keys: SecretStr) -> list[tuple[str, str]]:
    """(tenant, key) of each pair; a part without a colon gives an empty key."""
    pairs = [pair.partition(":") for pair in keys.get_secret_value().split(",") if pair.strip()]
    return [(tenant.strip(), key.strip()) for tenant, _, key in pairs]


def _is_login(login: str) -> bool:
    """Whether it can be compared with what browsers send, which Flower does only for ASCII."""
    return login.isascii() and all(login.partition(":")[::2])


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        # What is wrong is said with a part of the address, which may be its password.
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
