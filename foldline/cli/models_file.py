"""Reads the file with the operator's own models; what is wrong in it is said with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final, NoReturn

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.prices import Prices
from foldline.engine.models.windows import Known, parse_size, put_first
from foldline.terminal import CommandFailed

HEADER: Final = re.compile(r"\s*\[\[\s*model\s*\]\]")
KEYS: Final = ("name", "window", *Prices._fields)


def use_models_file(path: str | None) -> None:
    """Look for models in this file first, throughout this process.

    Raises:
        CommandFailed: the file cannot be read, or a line of it is wrong.
    """
    if path is not None:
        put_first(read_models(Path(path)))


def read_models(path: Path) -> list[Known]:
    """The models of a TOML file: each is a `[[model]]` with `name`, `window` and, if known, prices.

    Raises:
        CommandFailed: the file cannot be read, or a line of it is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CommandFailed(f"models file {path}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"models file {path} cannot be read: {error}") from error
    return list(_Reader(path, text, f"{path.name}, {changed}").models(tables))


class _Reader:
    """Turns the tables of one file into models."""

    def __init__(self, path: Path, text: str, source: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._headers = [number for number, line in enumerate(self._lines, 1) if HEADER.match(line)]
        self._source = source

    def models(self, tables: Mapping[str, Any]) -> Iterator[Known]:
        for key in tables.keys() - {"model"}:
            self._refuse(self._line_of(key, 1), f"`{key}` is unknown: each model begins with [[model]]")
        rows = tables.get("model", [])
        if not isinstance(rows, list) or len(rows) != len(self._headers):
            self._refuse(self._line_of("model", 1), "each model must begin with a line [[model]]")
        seen: dict[str, int] = {}
        for row, line in zip(rows, self._headers, strict=True):
            model = self._model(row, line)
            name = f"{model.provider}/{model.name}"
            if name in seen:
                self._refuse(line, f"{name} is listed already, on line {seen[name]}")
            seen[name] = line
            yield model

    def _model(self, row: Mapping[str, Any], line: int) -> Known:
        for key in row.keys() - set(KEYS):
            self._refuse(self._line_of(key, line), f"`{key}` is unknown; a model has {', '.join(KEYS)}")
        name = row.get("name")
        provider, slash, bare = name.lower().partition("/") if isinstance(name, str) else ("", "", "")
        if not (provider and slash and bare) or any(map(str.isspace, provider + bare)):
            self._refuse(self._line_of("name", line), "`name` must be provider/name, without spaces")
        try:
            tokens = parse_size(row.get("window", 0))
        except InvalidPolicy:
            self._refuse(self._line_of("window", line), '`window` must be a number of tokens, or a size such as "128k"')
        prices = Prices(**{key: self._price(row[key], key, line) for key in Prices._fields if key in row})
        return Known(provider, bare, tokens, self._source, None if prices == Prices() else prices)

    def _price(self, value: Any, key: str, line: int) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            self._refuse(self._line_of(key, line), f"`{key}` must be US dollars for a million tokens, 0 or more")
        return float(value)

    def _line_of(self, key: str, start: int) -> int:
        """The line that sets a key, from line `start` to the next model; `start` if none does."""
        sets_key = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
        stop = next((header for header in self._headers if header > start), len(self._lines) + 1)
        return next((number for number in range(start, stop) if sets_key.match(self._lines[number - 1])), start)

    def _refuse(self, line: int, problem: str) -> NoReturn:
        message = f"models file {self._path}, line {line}: {problem}"
        raise CommandFailed(message)
