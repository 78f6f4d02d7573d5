"""The configuration of a process: one frozen `Settings`, read from FOLDLINE_ variables and passed down.

Nothing else in the project reads the environment. Secrets, and values that may contain one, are left out of `repr` and
of every error.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from foldline.engine.errors import InvalidPolicy
from foldline.engine.messages import JsonObject
from foldline.engine.policies.policy import policy_of
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.engine.wire import loads
from foldline.log.storage.engines.engine_set import CONNECTIONS

PREFIX = "FOLDLINE_"
# What commands read as clients of a service; no process of one has a setting of these names.
OF_CLIENTS = frozenset({"FOLDLINE_API_KEY", "FOLDLINE_SESSION", "FOLDLINE_URL"})
LOOPBACK = "127.0.0.1"
# Connections that no request uses: the job watch has one, and each port has two, for its readiness and for the queues.
OTHER_CONNECTIONS = 5
# The chunks of one long range are summarized at the same time.
CALLS_AT_LEAST = 4
# Of random characters, these are too many to try out.
KEY_CHARS_MIN = 16
# AES-256.
SEALING_KEY_BYTES = 32
# A system prompt and one message need some room.
WINDOW_AT_LEAST = 2000
# A hundred years.
DAYS_MAX = 36_500


class InvalidSettings(Exception):
    """A setting cannot be used. The message has one line per problem, and `problems` holds the lines."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Settings(BaseSettings):
    """All settings of a Foldline process. The field `name` is read from the variable FOLDLINE_NAME."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )

    host: str = Field(
        LOOPBACK, min_length=1, description="Address to listen on. Without API keys it has to be loopback."
    )
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on. 0 picks a free port.")
    database_url: str = Field(
        "sqlite:///foldline.db", min_length=1, repr=False, description="SQLAlchemy address of the database."
    )
    database_connections: int = Field(
        CONNECTIONS,
        ge=1,
        le=2000,
        description="Maximum connections of a process to PostgreSQL, or readers of an SQLite file. At least "
        "FOLDLINE_THREADS + 5.",
    )
    database_prepared_statements: bool = Field(
        default=True,
        description="Whether PostgreSQL keeps statements prepared. Turn it off behind a pooler that gives each "
        "transaction another connection, such as PgBouncer with `pool_mode = transaction`.",
    )
    cache_bytes: int = Field(
        32 << 20,
        ge=0,
        le=1 << 40,
        description="Bytes in which a process keeps what it read of sessions last, so that the next view costs what "
        "is new in it. 0 keeps nothing.",
    )
    broker_url: str = Field(
        "memory://",
        min_length=1,
        repr=False,
        description="Address of the broker. memory:// works inside one process only.",
    )
    api_keys: SecretStr = Field(
        SecretStr(""),
        description="Keys with all scopes, as tenant:key,tenant:key, of at least 16 characters each. They do not "
        "expire; `foldline keys create` stores others. Without any key: one tenant, on loopback only.",
    )
    encryption_keys: SecretStr = Field(
        SecretStr(""),
        description="Keys that encrypt what was said where it is stored, parted by commas, each 32 bytes in base64, as "
        "`openssl rand -base64 32` makes them. The first encrypts, all of them decrypt. The same for all processes.",
    )

    models_file: str | None = Field(
        None,
        min_length=1,
        description="TOML file with models, their windows and prices, which come before the catalogue's. The same for "
        "all processes.",
    )

    policy: str = Field(
        DEFAULT_PRESET,
        min_length=1,
        description="The policy of sessions that are created without one: a preset, or a policy as JSON, such as "
        '{"preset": "neurolink", "trigger": 0.7}.',
    )
    auto_compact: bool = Field(
        default=True,
        description="Whether sessions compact by themselves, unless they say otherwise when they are created.",
    )

    summarizer: str = Field(
        "extractive",
        min_length=1,
        description="Who writes summaries: extractive needs no LLM, openai calls an OpenAI-compatible endpoint, other "
        "names are those of FOLDLINE_SUMMARIZERS. Of several, as in fast,spare,extractive, each takes over where those "
        "before it give no answer.",
    )
    summarizers: str | None = Field(
        None,
        min_length=1,
        repr=False,
        description="TOML file, or JSON, with summarizers by name: wire (openai-chat, openai-responses, anthropic or "
        "gemini), base_url, model, key or key_file, limits, rates and prices; see docs/summaries.md.",
    )
    summarizer_base_url: str | None = Field(None, description="Address of the summarizer's endpoint, with /v1.")
    summarizer_api_key: SecretStr | None = Field(None, description="Key for that endpoint, if it needs one.")
    summarizer_model: str | None = Field(None, description="Model that writes the summaries.")
    summarizer_timeout_seconds: float = Field(120.0, gt=0, description="Time limit of one call to the endpoint.")
    summarizer_input_tokens: int = Field(
        100_000, ge=1000, description="Maximum tokens of history in one call. A longer range takes several calls."
    )
    summarizer_window: int | None = Field(
        None, ge=2000, description="Context window of the model in tokens, if it is none that Foldline knows."
    )
    summarizer_output_tokens: int | None = Field(
        None, ge=100, description="Maximum tokens of one answer of the model. It is also learned from refusals."
    )
    summarizer_concurrency: int | None = Field(
        None,
        ge=1,
        le=256,
        description="Calls of the model that a process has open at the same time. By default "
        "FOLDLINE_WORKER_CONCURRENCY, and 4 at least.",
    )
    summarizer_calls: int = Field(
        8,
        ge=1,
        le=4096,
        description="Maximum prompts of the first level for one summary. A longer range takes several.",
    )
    summarizer_failures: int = Field(
        5,
        ge=1,
        description="Failed summaries in a row after which no worker calls a summarizer until a pause is over. The "
        "pause is as long as that of automatic summaries.",
    )

    anthropic_api_key: SecretStr | None = Field(
        None, description="Key for Anthropic's own compaction, for sessions whose policy has summarizer: provider."
    )
    anthropic_base_url: str = Field("https://api.anthropic.com", description="Address of Anthropic's API, without /v1.")
    openai_api_key: SecretStr | None = Field(
        None, description="Key for OpenAI's own compaction, for sessions whose policy has summarizer: provider."
    )
    openai_base_url: str = Field("https://api.openai.com/v1", description="Address of OpenAI's API, with /v1.")

    gateway: Literal["on", "shadow", "off"] = Field(
        "on",
        description="Whether requests to the routes of Anthropic's and OpenAI's APIs get views: on; shadow only says "
        "in headers what a view would take; off sends all on as it came.",
    )
    gateway_context_window: int | None = Field(
        None,
        ge=WINDOW_AT_LEAST,
        description="Context window in tokens of sessions of the gateway, in place of their model's.",
    )
    gateway_recall: bool = Field(
        default=False,
        description="Whether requests with a compacted view offer the model a tool that searches what is out of view. "
        "Its calls are answered before the agent sees them, and such answers arrive when they are complete.",
    )
    gateway_side_call_seconds: int = Field(
        86_400,
        ge=0,
        description="Time after which a conversation of the gateway is deleted that has no tools and one request only, "
        "such as one that asks for a title; 0 keeps it.",
    )
    gateway_timeout_seconds: float = Field(
        600.0, gt=0, description="Time within which a provider has to send the next bytes of its answer."
    )

    lease_seconds: int = Field(
        120,
        ge=1,
        description="Time within which a worker has to renew its lease of a job, else another worker takes the job.",
    )
    sweep_seconds: float = Field(
        15.0,
        gt=0,
        description="Time between two sweeps, which find waiting jobs without a notification and expired leases.",
    )
    retry_seconds: int = Field(
        30,
        ge=0,
        description="Pause after a failed summary before the next automatic one. Doubles with each failure in a row.",
    )
    retry_seconds_max: int = Field(
        600, ge=0, description="Maximum of that pause, even if the summarizer demands a longer one."
    )
    max_attempts: int = Field(3, ge=1, description="Number of workers that may die with one job before the job fails.")
    worker_concurrency: int = Field(
        4, ge=1, le=256, description="Summaries that a worker process writes at the same time."
    )
    stop_seconds: float = Field(
        10.0, ge=0, description="Time that running jobs get to hand themselves back when a process stops."
    )

    hook_timeout_seconds: float = Field(10.0, gt=0, description="Time limit of one call of a hook.")
    hooks_fail: Literal["open", "closed"] = Field(
        "open", description="If a hook fails, open continues without it and closed fails the job."
    )

    max_body_bytes: int = Field(
        32 * 1024 * 1024, ge=1024, description="Maximum size of a request body. Larger ones get 413."
    )
    max_messages: int = Field(
        20_000, ge=1, description="Maximum number of messages in a request. With more it gets 422."
    )
    max_values: int = Field(
        250_000,
        ge=100,
        description="Maximum number of values in the JSON of a request: items of arrays and members of objects, at any "
        "depth. With more it gets 422, before it is parsed.",
    )
    max_files: int = Field(
        10_000, ge=1, description="Maximum number of files in a request for a budget. With more it gets 422."
    )
    max_session_entries: int = Field(
        1_000_000,
        ge=1,
        description="Maximum number of entries of a session, on all branches. An append beyond it gets 422. A large "
        "session is counted now and then, so it may have a sixteenth more.",
    )
    max_session_bytes: int = Field(
        4 << 30,
        ge=1024,
        description="Maximum size of the entries of a session as JSON. An append beyond it gets 422. Counted as "
        "FOLDLINE_MAX_SESSION_ENTRIES.",
    )
    max_summarized_entries: int = Field(
        250_000,
        ge=1,
        description="Maximum number of entries that the compactions of a session file summarize together, and of the "
        "branches that lead to them. An entry counts again for each compaction on another branch. An import beyond it "
        "gets 422.",
    )
    max_bodies_bytes: int = Field(
        256 << 20,
        ge=1 << 17,
        description="Maximum size of the bodies that a process reads or works on at the same time, one tenant half of "
        "it; at least twice FOLDLINE_MAX_BODY_BYTES. Beyond it a body of more than 64 KiB gets 503. Where callers need "
        "keys, answers that wait for their clients may take as much again.",
    )
    body_pause_seconds: float = Field(
        20.0, gt=0, description="Time within which the next bytes of a body have to arrive, else the request gets 408."
    )
    body_bytes_per_second: int = Field(
        8192, ge=1, description="Rate that a body has to arrive at after such a pause, else the request gets 408."
    )
    job_waiters: int = Field(
        2000,
        ge=1,
        description="Maximum number of requests that follow a job or wait for one at the same time in a process, of "
        "one tenant half of them. Others get 503, or an answer at once.",
    )
    large_requests: int = Field(
        2,
        ge=1,
        le=64,
        description="Maximum number of large requests handled at the same time, of one tenant half of them. Large are "
        "those to POST /compact, /budget and /import and to exports, and others with a large body or more than 64 "
        "messages.",
    )
    large_requests_waiting: int = Field(
        32, ge=0, le=4096, description="Maximum number of a tenant's large requests that wait. Others get 503."
    )
    large_request_processes: int = Field(
        1,
        ge=0,
        le=16,
        description="Processes of their own for large requests, if callers need keys. They start when the first comes; "
        "each takes some 150 MB. One more answers small requests of a tenant that takes more than its share of the "
        "threads while others ask, and one is the worker of `serve` if there are keys at its start. With 0, threads do "
        "all of that, which slows others down.",
    )
    large_request_bytes: int = Field(256 << 10, ge=1024, description="Size of a body above which a request is large.")
    key_requests_per_second: int = Field(
        1000,
        ge=0,
        description="Maximum number of requests a second with one key. Others get 429. 0 sets no limit.",
    )
    tenant_requests_per_second: int = Field(
        2000,
        ge=0,
        description="Maximum number of requests a second of one tenant. Others get 429. 0 sets no limit.",
    )
    tenant_concurrent_requests: int = Field(
        2000,
        ge=0,
        description="Maximum number of requests of one tenant that a process works on at the same time; a stream and a "
        "client that waits count too. Others get 429. 0 sets no limit.",
    )
    tenant_body_bytes_per_day: int = Field(
        128 << 30,
        ge=0,
        description="Size of the bodies of one tenant in a day, after which requests with a body get 429. 0 sets no "
        "limit.",
    )
    tenant_sessions: int = Field(
        1_000_000,
        ge=0,
        description="Maximum number of sessions of one tenant. A request that would create another gets 429. 0 sets no "
        "limit.",
    )
    tenant_jobs: int = Field(
        10_000,
        ge=0,
        description="Maximum number of jobs of one tenant that wait or run. A request for another gets 429, and "
        "automatic ones wait. 0 sets no limit.",
    )
    tenant_summary_tokens_per_day: int = Field(
        1_000_000_000,
        ge=0,
        description="Tokens of summarizers that one tenant uses in a day, after which its summaries are made of the "
        "ledger alone. 0 sets no limit.",
    )
    tenant_summary_usd_per_day: float = Field(
        1000.0,
        ge=0,
        description="US dollars for summarizers that one tenant costs in a day, where prices are known, after which "
        "its summaries are made of the ledger alone. 0 sets no limit.",
    )
    threads: int = Field(
        16,
        ge=1,
        le=1024,
        description="Maximum number of API requests handled at the same time; "
        "of one tenant half of them, if callers need keys.",
    )
    api_processes: int = Field(
        1, ge=1, le=64, description="Processes of `foldline api` on one port. Each uses about one core."
    )
    wait_seconds_max: float = Field(60.0, ge=0, description="Maximum of a request's `Prefer: wait`.")
    idempotency_hours: float = Field(24.0, gt=0, description="Time for which the answer to an Idempotency-Key is kept.")
    audit_days: float = Field(
        365.0, gt=0, le=DAYS_MAX, description="Days for which the audit trail is kept, which says who did what."
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=DAYS_MAX,
        description="Days after its last message when a session is deleted, unless it or its tenant has other ones. "
        "Not set: sessions are kept for ever.",
    )
    retention_days_by_tenant: str = Field(
        "",
        description="The same for the sessions of single tenants, as tenant:days,tenant:days. The days that a session "
        "has of its own come before these.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of the log lines that are written."
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="Format of log lines: for people, or one JSON object per line."
    )

    metrics_host: str = Field(LOOPBACK, min_length=1, description="Address that the operator's port listens on.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="The operator's port: each process serves /metrics, /healthz and /readyz on it without a key, and "
        "the API also /queues. With several processes of `foldline api`, the one that started them does so for all. "
        "Not set: no such port.",
    )
    traces_url: str | None = Field(
        None, description="Address that gets traces by OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces."
    )
    task_events: bool = Field(
        default=False,
        description="Whether workers send events of their tasks to Flower from their start, which delays each summary "
        "slightly. If not, they begin within 5 s after Flower has requested them.",
    )
    flower_host: str = Field(LOOPBACK, min_length=1, description="Address that Flower listens on.")
    flower_port: int = Field(5555, ge=0, le=65535, description="Port that Flower listens on. 0 picks a free port.")
    flower_login: SecretStr | None = Field(
        None, description="Login of Flower, as user:password. Flower does not start without it."
    )

    @field_validator("encryption_keys")
    @classmethod
    def _check_encryption_keys(cls, keys: SecretStr) -> SecretStr:
        try:
            found = _parse_encryption_keys(keys)
        except ValueError:
            found = [b""]
        if any(len(key) != SEALING_KEY_BYTES for key in found):
            template = "write it as key,key with {bytes} bytes in base64 each, as `openssl rand -base64 32` makes them"
            raise PydanticCustomError("encryption_keys", template, {"bytes": SEALING_KEY_BYTES})
        return keys

    @field_validator("api_keys")
    @classmethod
    def _check_api_keys(cls, keys: SecretStr) -> SecretStr:
        pairs = _parse_api_keys(keys)
        if not all(tenant and key for tenant, key in pairs):
            raise PydanticCustomError("api_keys", "write it as tenant:key,tenant:key, with no empty tenant or key")
        if len({key for _, key in pairs}) < len(pairs):
            raise PydanticCustomError("api_keys", "one key is listed twice; each key belongs to one tenant")
        if any(len(key) < KEY_CHARS_MIN for _, key in pairs):
            template = "each key needs at least {least} characters; `openssl rand -hex 32` makes a good one"
            raise PydanticCustomError("api_keys", template, {"least": KEY_CHARS_MIN})
        return keys

    @field_validator("retention_days_by_tenant")
    @classmethod
    def _check_retention_days(cls, given: str) -> str:
        pairs = _pairs(given)
        is_right = all(tenant and days.isdecimal() and 1 <= int(days) <= DAYS_MAX for tenant, days in pairs)
        if not is_right or len(dict(pairs)) < len(pairs):
            template = "write it as tenant:days,tenant:days, each tenant once and with 1 to {most} days"
            raise PydanticCustomError("retention_days_by_tenant", template, {"most": DAYS_MAX})
        return given

    @field_validator("policy")
    @classmethod
    def _check_policy(cls, policy: str) -> str:
        try:
            policy_of(_policy_values(policy), PRESETS)
        except InvalidPolicy as error:
            raise PydanticCustomError("policy", "{reason}", {"reason": str(error)}) from error
        return policy

    @field_validator("flower_login")
    @classmethod
    def _check_flower_login(cls, login: SecretStr | None) -> SecretStr | None:
        if login is not None and not _is_login(login.get_secret_value()):
            raise PydanticCustomError("login", "write it as user:password, in ASCII and with neither of them empty")
        return login

    @field_validator("summarizer_base_url", "anthropic_base_url", "openai_base_url", "traces_url")
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
    def policy_values(self) -> JsonObject:
        """The policy of sessions that are created without one, with the name of its preset."""
        return {"preset": DEFAULT_PRESET, **_policy_values(self.policy)}

    @property
    def sealing_keys(self) -> list[bytes]:
        """The keys that encrypt what is stored, the newest first. Never log them."""
        return _parse_encryption_keys(self.encryption_keys)

    @property
    def tenants_by_key(self) -> Mapping[str, str]:
        """The tenant of each key; empty if no keys are set. Never log it."""
        return {key: tenant for tenant, key in _parse_api_keys(self.api_keys)}

    @property
    def tenant_retention_days(self) -> Mapping[str, int]:
        """The days for which the sessions of some tenants are kept."""
        return {tenant: int(days) for tenant, days in _pairs(self.retention_days_by_tenant)}

    @property
    def compactor_keys(self) -> Mapping[str, str]:
        """The key for each provider that may be asked for its own compaction. Never log it."""
        keys = {"anthropic": self.anthropic_api_key, "openai": self.openai_api_key}
        return {name: key.get_secret_value() for name, key in keys.items() if key is not None}

    @property
    def calls_at_once(self) -> int:
        """The calls of one model that a process has open at the same time, unless its row has another number."""
        return self.summarizer_concurrency or max(CALLS_AT_LEAST, self.worker_concurrency)

    @property
    def is_local(self) -> bool:
        """Whether `host` can be reached from this machine only. Without keys it has to be."""
        return _is_loopback(self.host)

    @property
    def has_memory_broker(self) -> bool:
        """Whether the broker works inside this process only, so that the worker has to run in it too."""
        return self.broker_url.startswith("memory:")


# The settings that limit a tenant or a key.
TENANT_LIMITS = tuple(name for name in Settings.model_fields if name.startswith(("key_", "tenant_")))


def _policy_values(policy: str) -> JsonObject:
    """The fields of a policy that is given as the name of a preset or as JSON.

    Raises:
        InvalidPolicy: it is neither.
    """
    if not policy.lstrip().startswith("{"):
        return {"preset": policy}
    try:
        values: JsonObject = loads(policy)
    except ValueError as error:
        raise InvalidPolicy("policy", "must be the name of a preset or a JSON object") from error
    return values


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
    """Variables of the environment that begin with the prefix but are not settings."""
    known = {variable(name) for name in Settings.model_fields} | OF_CLIENTS
    return sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)


def _problem(detail: Mapping[str, Any]) -> str:
    message = str(detail["msg"])
    names = ".".join(str(name) for name in detail["loc"])
    return f"{variable(names)}: {message}" if names else message


def variable(field: str) -> str:
    """The variable that a field is read from."""
    return PREFIX + field.upper()


def _parse_encryption_keys(keys: SecretStr) -> list[bytes]:
    """The keys as bytes.

    Raises:
        ValueError: one is no base64.
    """
    return [base64.b64decode(key.strip(), validate=True) for key in keys.get_secret_value().split(",") if key.strip()]


def _parse_api_keys(keys: SecretStr) -> list[tuple[str, str]]:
    """(tenant, key) of each pair; a part without a colon gives an empty key."""
    return _pairs(keys.get_secret_value())


def _pairs(text: str) -> list[tuple[str, str]]:
    """(name, value) of each name:value in a list that commas part; one without a colon has an empty value."""
    parts = [part.partition(":") for part in text.split(",") if part.strip()]
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _is_login(login: str) -> bool:
    """Whether it is complete, and in ASCII: Flower compares only ASCII logins with what browsers send."""
    return login.isascii() and all(login.partition(":")[::2])


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        # The error's message quotes a part of the address, which may be its password.
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
