"""`python -m tools.settings_page > docs/settings.md`: the page on settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from foldline.settings import PREFIX, Settings

INTRODUCTION: Final = """\
# Settings

Foldline is configured by environment variables:

```console
$ FOLDLINE_PORT=9000 FOLDLINE_LOG_LEVEL=debug foldline serve
```

- A process reads them when it starts. An empty variable counts as not set.
- A command's option wins over its variable: `--port 9000` over `FOLDLINE_PORT=8080`. Keys can only be set by variables.
- A process does not start with a value that it cannot use. It prints the name of the variable, never its value.

## One process

`foldline serve` runs the API and a worker in one process, with a broker inside. Where callers need keys, the worker is
a process beside it. It creates its database when it starts, and migrates it.

The database is the SQLite file `foldline.db` in the folder where you start the service. While the service runs,
`foldline.db-wal` and `foldline.db-shm` are beside it. To use another file, give an absolute path after four slashes:
`FOLDLINE_DATABASE_URL=sqlite:////var/lib/foldline/foldline.db`. PostgreSQL works too.

## Several processes

`foldline api`, `worker`, `beat` and `flower` are separate processes. Run as many of the first two as you like, and one
beat. Give all of them the same settings. [operate.md](operate.md) describes how to run them.

- All of them need a Redis or Valkey: `FOLDLINE_BROKER_URL=redis://host:6379/0`. Installations that share one use
  different database numbers. `rediss://` uses TLS and verifies the certificate, unless the address ends in
  `?ssl_cert_reqs=none`.
- `api` and `worker` need a PostgreSQL: `FOLDLINE_DATABASE_URL=postgresql://user:password@host/name`. Run
  `foldline migrate` on it first.

## Models of your own

`FOLDLINE_MODELS_FILE=models.toml` names a file with models that Foldline does not know, or of which you know better:

```toml
[[model]]
name = "home/llama-4"
window = "128k"

[[model]]
name = "anthropic/claude-opus-5"
window = 500_000
input = 5
cached_input = 0.5
cache_write = 6.25
output = 25
```

Prices are US dollars for a million tokens, and may be missing; then those of the catalogue are used. No process starts
with a file that is wrong: it names the line. `foldline models --models-file models.toml` checks the file. `GET /models`
shows these models first, with the name and the date of the file as their `source`.

## All settings

| name | default | unit | meaning |
|---|---|---|---|
"""
UNITS: Final = frozenset({"bytes", "hours", "seconds", "tokens"})


def page() -> str:
    """The page: how to configure a process, and a row for every setting."""
    return INTRODUCTION + "".join(_rows())


def _rows() -> Iterator[str]:
    for name, found in Settings.model_fields.items():
        default = _default(found.default)
        yield f"| `{PREFIX}{name.upper()}` | {default} | {_unit(name, found)} | {found.description} |\n"


def _default(value: Any) -> str:
    """A default as one would type it; empty for none."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value == "" else f"`{value}`"


def _unit(name: str, found: FieldInfo) -> str:
    """The unit in the setting's name, or its possible values."""
    if get_origin(found.annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(found.annotation))
    return next((word for word in name.split("_") if word in UNITS), "")


if __name__ == "__main__":
    sys.stdout.write(page())
