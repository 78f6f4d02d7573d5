"""The type of columns that hold what was said: encrypted on the way to the database, if its engine has keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Dialect, Engine, LargeBinary
from sqlalchemy.types import TypeDecorator

from foldline.log.sealing.cipher import Cipher, readable

Processor = Callable[[Any], Any]

_CIPHERS: Final[WeakKeyDictionary[Dialect, Cipher]] = WeakKeyDictionary()


def seal_columns(engine: Engine, cipher: Cipher) -> None:
    """Have an engine that has executed nothing yet encrypt its sealed columns."""
    _CIPHERS[engine.dialect] = cipher


class Sealed(TypeDecorator[bytes]):
    """Bytes that are encrypted if their engine has keys."""

    impl = LargeBinary
    cache_ok = True

    def sealer(self, dialect: Dialect) -> Callable[[bytes], bytes] | None:
        """What encrypts a value before the driver gets it; None without keys."""
        cipher = _CIPHERS.get(dialect)
        return None if cipher is None else cipher.sealed

    def bind_processor(self, dialect: Dialect) -> Processor | None:
        plain, sealer = super().bind_processor(dialect), self.sealer(dialect)
        return plain if sealer is None else _in_turn(sealer, plain)

    def result_processor(self, dialect: Dialect, coltype: object) -> Processor | None:
        cipher = _CIPHERS.get(dialect)
        plain = super().result_processor(dialect, coltype)
        if cipher is not None:
            return _in_turn(plain, cipher.opened)
        # Without a key, what is encrypted must not be taken for a session that cannot be read. Our drivers give bytes.
        return readable if plain is None else _in_turn(plain, readable)


def _in_turn(*steps: Processor | None) -> Processor:
    """The steps one after the other; NULL stays NULL."""
    needed = [step for step in steps if step is not None]

    def process(value: Any) -> Any:
        if value is not None:
            for step in needed:
                value = step(value)
        return value

    return process
