"""The values that fill the slots of templates, such as `{port}`; a digit behind the name asks for another value."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

NAMES: Final = re.compile(r"\{([a-z]+)(\d*)\}")
ANGLED: Final = re.compile(r"<([a-z]+)(\d*)>")
_FIRST: Final = [
    "Dana",
    "Imre",
    "Noor",
    "Selma",
    "Tomas",
    "Yuki",
    "Pilar",
    "Ewan",
    "Leila",
    "Goran",
    "Anouk",
    "Mateo",
    "Ingrid",
    "Kofi",
    "Rhea",
    "Jonas",
]
_LAST: Final = [
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Tanaka",
    "Petrov",
    "Alvarez",
    "Hughes",
    "Novak",
    "Rossi",
    "Demir",
    "Keller",
    "Osei",
    "Falk",
    "Brandt",
]
_TEAMS: Final = [
    "Platform",
    "Billing",
    "Search",
    "Mobile",
    "Data Ops",
    "Payments",
    "Identity",
    "Growth",
    "Reliability",
    "Logistics",
]
_WORDS: Final = [
    "amber",
    "cobalt",
    "harbor",
    "juniper",
    "lantern",
    "marble",
    "nectar",
    "onyx",
    "pepper",
    "quartz",
    "raven",
    "sable",
    "tundra",
    "velvet",
]
_PARTS: Final = [
    "gateway",
    "ledger",
    "scheduler",
    "indexer",
    "mailer",
    "router",
    "broker",
    "cache",
    "importer",
    "exporter",
    "notifier",
]
_MODULES: Final = [
    "session",
    "retry",
    "parser",
    "upload",
    "export",
    "tariff",
    "metrics",
    "digest",
    "lock",
    "quota",
    "webhook",
    "cursor",
    "report",
]
_FOLDERS: Final = ["src", "lib", "pkg", "internal", "services", "apps", "tools", "deploy", "config", "packages"]
_ENDINGS: Final = ["py", "ts", "go", "rs", "sql", "yaml", "toml", "md"]
_FEATURES: Final = [
    "bulk export",
    "dark mode",
    "audit trail",
    "guest checkout",
    "saved filters",
    "offline sync",
    "rate alerts",
    "seat map",
    "price alert",
    "single sign-on",
    "undo history",
    "voice notes",
]
_PRODUCTS: Final = [
    "Northwind",
    "Tessera",
    "Lumen",
    "Quillbox",
    "Fernway",
    "Orbita",
    "Castor",
    "Millrace",
    "Pinecone",
    "Halyard",
]
_KEYS: Final = [
    "retention window",
    "grace period",
    "session lifetime",
    "backoff ceiling",
    "archive delay",
    "review period",
    "trial length",
    "key rotation",
    "cool-down",
    "warm-up phase",
]
_ERRORS: Final = [
    "ECONNRESET",
    "ETIMEDOUT",
    "KeyError",
    "IntegrityError",
    "OutOfMemoryError",
    "EPIPE",
    "UnicodeDecodeError",
    "TypeError",
    "ENOSPC",
    "DeadlockDetected",
    "BrokenPipeError",
    "AssertionError",
]
_CITIES: Final = [
    "Lisbon",
    "Graz",
    "Tampere",
    "Bergen",
    "Oaxaca",
    "Nagoya",
    "Leeds",
    "Utrecht",
    "Valparaiso",
    "Cork",
    "Turin",
    "Aarhus",
    "Quito",
]
_DAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_PACKAGES: Final = [
    "httpx",
    "polars",
    "msgspec",
    "orjson",
    "structlog",
    "pendulum",
    "attrs",
    "trio",
    "duckdb",
    "pgmq",
    "litestar",
    "granian",
]
_ENVS: Final = ["QUEUE", "POOL", "CACHE", "UPLOAD", "WORKER", "RETRY", "BATCH", "TOKEN", "SOCKET", "INDEX"]
_LIMITS: Final = ["MAX", "LIMIT", "SIZE", "TTL", "DEPTH", "TIMEOUT", "COUNT"]
_FLAGS: Final = [
    "no-cache",
    "dry-run",
    "fail-fast",
    "skip-hooks",
    "keep-going",
    "no-verify",
    "with-deps",
    "single-branch",
    "force-sync",
]


def _letters(random: Random, letters: str, number: int) -> str:
    return "".join(random.choice(letters) for _ in range(number))


def _pick(values: list[str]) -> Callable[[Random], str]:
    return lambda random: random.choice(values)


def _service(random: Random) -> str:
    return f"{random.choice(_WORDS)}-{random.choice(_PARTS)}"


def _path(random: Random) -> str:
    return (
        f"{random.choice(_FOLDERS)}/{random.choice(_WORDS)}/{random.choice(_MODULES)}_{random.choice(_PARTS)}"
        f".{random.choice(_ENDINGS)}"
    )


_MAKERS: Final[Mapping[str, Callable[[Random], str]]] = {
    "person": lambda random: f"{random.choice(_FIRST)} {random.choice(_LAST)}",
    "team": _pick(_TEAMS),
    "service": _service,
    "branch": lambda random: f"{random.choice(['feat', 'fix', 'release'])}/{_service(random)}",
    "path": _path,
    "folder": lambda random: f"{random.choice(_FOLDERS)}/{random.choice(_WORDS)}",
    "url": lambda random: (
        f"https://docs.{random.choice(_WORDS)}.example/{random.choice(_MODULES)}/{random.randint(10, 999)}"
    ),
    "host": lambda random: (
        f"{random.choice(_WORDS)}-{random.randint(1, 9)}.{random.choice(['int', 'stage', 'eu'])}.example"
    ),
    "port": lambda random: str(random.randint(2000, 64000)),
    "version": lambda random: f"{random.randint(1, 9)}.{random.randint(0, 30)}.{random.randint(0, 20)}",
    "package": _pick(_PACKAGES),
    "ticket": lambda random: f"{random.choice(['OPS', 'PAY', 'WEB', 'CORE', 'APP'])}-{random.randint(100, 9999)}",
    "hash": lambda random: _letters(random, "0123456789abcdef", 9),
    "order": lambda random: _letters(random, string.ascii_uppercase, 2) + _letters(random, string.digits, 6),
    "email": lambda random: f"{random.choice(_FIRST).lower()}@{random.choice(_WORDS)}.example",
    "n": lambda random: str(random.randint(3, 90)),
    "percent": lambda random: f"{random.randint(2, 97)} %",
    "ms": lambda random: str(random.randint(11, 990)),
    "gb": lambda random: str(random.randint(2, 900)),
    "money": lambda random: f"${random.randint(1, 99)},{random.randint(100, 999)}",
    "date": lambda random: f"{random.choice(_MONTHS)} {random.randint(1, 28)}",
    "time": lambda random: f"{random.randint(7, 19)}:{random.choice(['00', '15', '30', '45'])}",
    "weekday": _pick(_DAYS),
    "city": _pick(_CITIES),
    "table": lambda random: (
        f"{random.choice(_WORDS)}_{random.choice(['events', 'orders', 'users', 'invoices', 'audits'])}"
    ),
    "flag": lambda random: f"--{random.choice(_FLAGS)}",
    "env": lambda random: f"{random.choice(_ENVS)}_{random.choice(_WORDS).upper()}_{random.choice(_LIMITS)}",
    "error": _pick(_ERRORS),
    "feature": _pick(_FEATURES),
    "product": _pick(_PRODUCTS),
    "key": _pick(_KEYS),
}


class Values:
    """Random values of slots; within one template the same slot has the same value."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._values: dict[str, str] = {}

    def fill(self, text: str, pattern: re.Pattern[str] = NAMES) -> str:
        """The text with its slots filled."""
        return pattern.sub(lambda slot: self._value(slot[1], slot[2]) if slot[1] in _MAKERS else slot[0], text)

    def _value(self, name: str, number: str) -> str:
        slot = name + number
        while slot not in self._values:
            value = _MAKERS[name](self._random)
            if value not in self._values.values():
                self._values[slot] = value
        return self._values[slot]
