"""Texts with secrets and texts with look-alikes, put together when the tests run. What masks them is tested elsewhere.

The `.toml` files hold templates. `⟦` and `⟧` stand around a secret, `{hex:40}` is replaced by forty made-up hexadecimal
digits: no file has a secret in it, nor what a scanner of repositories takes for one.
"""

from __future__ import annotations

import re
import string
import tomllib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

SECRETS: Final = ("providers", "systems", "labels", "found_later")
LOOK_ALIKES: Final = ("look_alikes",)

_LOWER: Final = string.ascii_lowercase
_UPPER: Final = string.ascii_uppercase
_ALNUM: Final = string.ascii_letters + string.digits
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_ALPHABETS: Final = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digits": string.digits,
    "letters": _LOWER,
    "letters_mixed": string.ascii_letters,
    "alnum": _ALNUM,
    "lownum": _LOWER + string.digits,
    "upnum": _UPPER + string.digits,
    "base32": _UPPER + "234567",
    "base32lower": _LOWER + "234567",
    "base58": "".join(sorted(set(_ALNUM) - set("0OIl"))),
    "base64": _ALNUM + "+/",
    "base64url": _ALNUM + "-_",
    "bcrypt": _ALNUM + "./",
    "bech32": _BECH32.upper(),
    "bech32lower": _BECH32,
    "django": _LOWER + string.digits + "!@#$%^&*(-_=+)",
    # What names of pods end with.
    "hexlike": "bcdf2456789",
}
_WORDS: Final = (
    "apple", "bridge", "candle", "desert", "engine", "forest", "garden", "hammer", "island", "jungle", "kitten",
    "ladder", "magnet", "napkin", "orange", "pencil", "quiver", "rocket", "saddle", "timber", "umbrella", "velvet",
    "window", "yellow", "zebra", "anchor", "basket", "copper", "dragon", "ember", "falcon", "glacier",
)  # fmt: skip
_MARKED: Final = re.compile("⟦(.*?)⟧", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"\[secret removed: [a-z0-9 ]+\]")
_MADE_UP: Final = re.compile(r"\{([A-Za-z0-9_]+)(?::([\w: ]+))?\}")
# As many characters in a row of a secret may stay: some are left by chance, or stand in the text around it as well.
_LEFT: Final = 3


class Row(NamedTuple):
    """A text and the secrets in it; a look-alike has none."""

    name: str
    text: str
    secrets: tuple[str, ...] = ()

    def remains_in(self, masked: str) -> list[str]:
        """The pieces of the secrets that a masked text still has, though nothing else in the row has them."""
        around = self.text
        for secret in self.secrets:
            around = around.replace(secret, "\0")
        said = _PLACEHOLDER.sub("\0", masked)
        return [piece for secret in self.secrets for piece in _pieces(secret) if piece in said and piece not in around]


def rows(files: tuple[str, ...], seed: int) -> list[Row]:
    """The rows of these files, the same ones for the same seed."""
    random = Random(seed)
    folder = Path(__file__).parent
    templates: dict[str, str] = {}
    for file in files:
        templates |= tomllib.loads((folder / f"{file}.toml").read_text(encoding="utf-8"))
    return [_row(name, template, random) for name, template in templates.items()]


def _row(name: str, template: str, random: Random) -> Row:
    marked = _MADE_UP.sub(lambda match: _made_up(match, random), template)
    return Row(name, _MARKED.sub(r"\1", marked), tuple(_MARKED.findall(marked)))


def _made_up(match: re.Match[str], random: Random) -> str:
    kind, what = match.groups()
    if kind in _ALPHABETS and what:
        return "".join(random.choices(_ALPHABETS[kind], k=int(what)))
    make = _MAKERS.get(kind)
    # Braces of the text itself.
    return make(what or "", random) if make else match[0]


def _pieces(secret: str) -> list[str]:
    words = secret.split()
    return [word[start : start + _LEFT + 1] for word in words for start in range(max(1, len(word) - _LEFT))]


def _password(length: str, random: Random, symbols: str = "!@#$%^&*-_+=?.") -> str:
    """Of every sort of characters at least one, and a letter or digit at both ends."""
    first, last = random.choices(_ALNUM, k=2)
    inner = [random.choice(sort) for sort in (_LOWER, _UPPER, string.digits, symbols)]
    inner += random.choices(_ALNUM + symbols, k=int(length) - 2 - len(inner))
    random.shuffle(inner)
    return "".join((first, *inner, last))


def _argument(length: str, random: Random) -> str:
    """A password that a shell needs no quotes for."""
    return _password(length, random, "@%+-_.")


def _uuid(_: str, random: Random) -> str:
    digits = f"{random.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], f"4{digits[13:16]}", f"a{digits[17:20]}", digits[20:]))


def _jwt(length: str, random: Random) -> str:
    head, body = ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{random.randrange(10**9)}","exp":1767225600}}')
    signature = "".join(random.choices(_ALPHABETS["base64url"], k=int(length)))
    return ".".join((*(urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (head, body)), signature))


def _basic(length: str, random: Random) -> str:
    return b64encode(f"mona:{_password(length, random)}".encode()).decode()


def _encoded(what: str, random: Random) -> str:
    kind, _, length = what.partition(":")
    return b64encode(_MAKERS[kind](length, random).encode()).decode()


def _words(number: str, random: Random) -> str:
    return " ".join(random.sample(_WORDS, k=int(number)))


def _passphrase(number: str, random: Random) -> str:
    return _words(number, random).replace(" ", "-")


def _pem(name: str, random: Random, newline: str = "\n") -> str:
    lines = ["".join(random.choices(_ALPHABETS["base64"], k=64)) for _ in range(8)]
    return newline.join((_line("BEGIN", name), f"⟦{newline.join(lines)}⟧", _line("END", name)))


def _line(end: str, name: str) -> str:
    return f"-----{end} {name}-----"


_MAKERS: Final[Mapping[str, Callable[[str, Random], str]]] = {
    "password": _password,
    "argument": _argument,
    "uuid": _uuid,
    "jwt": _jwt,
    "basic": _basic,
    "b64": _encoded,
    "words": _words,
    "passphrase": _passphrase,
    "pem": _pem,
    "pem_escaped": lambda name, random: _pem(name, random, "\\n"),
    "pem_indented": lambda name, random: _pem(name, random, "\n    "),
    "pem_diff": lambda name, random: _pem(name, random, "\n-"),
    "pem_end": lambda name, _: _line("END", name),
}
