"""`python -m tools.settings_page > docs/settings.md`: the page on settings, as it is committed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from foldline.settings import PREFIX, Settings

INTRODUCTION: Final = """\
# Settings

A setting is a variable of the environment, read when a process starts; an empty one counts as not set. An option of
a command goes before its variable: `--port 9000` before `FOLDLINE_PORT=9000`. A value that cannot be used ends the
start with a line that names the variable, never its value. Keys are set in the environment only.

`foldline serve` keeps its data in one SQLite file, `foldline.db` in the folder where the service is started, with
`foldline.db-wal` and `foldline.db-shm` beside it while it runs. `FOLDLINE_DATABASE_URL=sqlite:////var/lib/foldline/foldline.db`
(four slashes and an absolute path) names another place. The file is made, and brought to the newest tables, by the
start. It takes a PostgreSQL as well; its worker and its broker are inside the process in any case.

`foldline api`, `worker`, `beat` and `flower` are processes of their own, as many of the first two as you like. They
need `FOLDLINE_BROKER_URL=redis://host:6379/0`, a Redis or Valkey (several installations share one with a database
number each; `rediss://` goes by TLS and looks at the certificate, unless the address ends in `?ssl_cert_reqs=none`),
and API and workers need `FOLDLINE_DATABASE_URL=postgresql://user:password@host/name`, a PostgreSQL that `foldline
migrate` has brought to the newest tables. Give all of them the same settings. [operate.md](operate.md) is about
running them.

| name | default | unit | meaning |
|---|---|---|---|
"""
UNITS: Final = frozenset({"bytes", "hours", "seconds", "tokens"})


def page() -> str:
    """The page: where settings come from and where data goes, and a row for every setting."""
    return INTRODUCTION + "".join(_rows())


def _rows() -> Iterator[str]:
    for name, found in Settings.model_fields.items():
        default = _default(found.default)
        yield f"| `{PREFIX}{name.upper()}` | {default} | {_unit(name, found)} | {found.description} |\n"


def _default(value: Any) -> str:
    """A default as it would be typed; nothing, where there is none."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value == "" else f"`{value}`"


def _unit(name: str, found: FieldInfo) -> str:
    """The unit in the setting's name, or the values there are."""
    if get_origin(found.annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(found.annotation))
    return next((word for word in name.split("_") if word in UNITS), "")


if __name__ == "__main__":
    sys.stdout.write(page())
