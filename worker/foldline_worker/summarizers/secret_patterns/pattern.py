"""The shape of a pattern, and the pieces of expressions that several modules have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

import regex


class SecretPattern(NamedTuple):
    """A kind of secret, as its placeholder names it, and the expression that finds it.

    Whatever the group `secret` matched is a secret; without that group, the whole match is. If there are `values`, the
    expression finds a name alone, and they match the secrets that may follow it. Every match has one of the `words`, in
    lower case and without a space; looking for words first is much faster.
    """

    kind: str
    expression: str
    words: tuple[str, ...]
    values: tuple[str, ...] = ()
    flags: int = regex.IGNORECASE

    def is_in(self, text: str) -> bool:
        """Whether a text has a match."""
        return bool(_compiled(self.expression, self.flags).search(text))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each secret in the text starts and ends."""
        found = _compiled(self.expression, self.flags)
        group = "secret" if self.values or "secret" in found.groupindex else 0
        for match in self._with_values(found, text) if self.values else found.finditer(text):
            yield from match.spans(group)

    def _with_values(self, names: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
        values = [_compiled(value, self.flags) for value in self.values]
        end = 0
        # What looks like a name inside of a value is none, and from each of them the time would grow with the square.
        for name in (match for match in names.finditer(text) if match.start() >= end):
            following = [match for value in values if (match := value.match(text, name.end()))]
            end = max((match.end() for match in following), default=end)
            yield from following


@cache
def _compiled(expression: str, flags: int) -> regex.Pattern[str]:
    """Compiled when it is first needed: all of them take half a second, and most texts need few."""
    return regex.compile(expression, flags)


def exact(kind: str, expression: str, *words: str) -> SecretPattern:
    """A pattern for which capitals and small letters differ."""
    return SecretPattern(kind, expression, words, flags=0)


def any_case(kind: str, expression: str, *words: str) -> SecretPattern:
    """A pattern for which capitals and small letters are the same."""
    return SecretPattern(kind, expression, words)


def named(kind: str, names: Iterable[tuple[str, str]], *values: str) -> Iterator[SecretPattern]:
    """Patterns of names, each with a word that it has, and of the secrets that may follow them, in any case."""
    return (SecretPattern(kind, name, (word,), values) for word, name in names)


# Texts inside of JSON have a backslash before quotation marks; for a newline they have a backslash and a letter, which
# stands right before the next word.
QUOTE: Final = r"\\{0,3}[\"']"
OPENING: Final = rf"(?:{QUOTE}){{0,2}}"
SPACE: Final = r"(?:\s|\\[nrt])"
NEWLINE: Final = r"(?:\r?\n|(?:\\r)?\\n)"
START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
LINE_START: Final = r"(?:(?m:^)|(?<=\\n|[\"']))"
LINE_END: Final = rf"(?=[ \t]*(?:{NEWLINE}|{QUOTE}|\Z))"

# Base64 may begin as a path does, but has capitals and digits.
_PATH: Final = (
    r"~?\.{1,2}/|~/|/(?!(?=[A-Za-z/+]{0,40}\d)(?-i:(?=[a-z0-9/+]{0,40}[A-Z]))[A-Za-z0-9+/]{20})|[a-z]{1,16}:[/\\]"
)
_LEFT_OUT: Final = r"\*{3}|\[|<|\S{0,16}(?:\.\.\.|…)"
# No value: a variable, template, path or call, or what a text leaves out: `$KEY`, `{key}`, `/a/key`, `key()`, `sk-...`.
_NO_VALUE: Final = rf"[$*{{(]|%[s({{]|[\w.]{{1,64}}[(\[]|{_PATH}|{_LEFT_OUT}"
# In quotes, only what is a variable or template as a whole, and a word that begins with a capital, as in labels.
_NO_QUOTED: Final = (
    r"\$[({]|\$\w{1,64}[\"'`]|\{\{|\{\w{1,64}\}[\"'`]|%[s({]|(?-i:\p{Lu}\p{Ll}+[\"'`\\])"
    rf"|{_PATH}|{_LEFT_OUT}"
)

DIGIT: Final = r"(?=[^\s\"'`\\\d]{0,64}+\d)"
_CASES: Final = r"(?-i:(?=[^\s\"'`\\A-Z]{0,64}+[A-Z])(?=[^\s\"'`\\a-z]{0,64}+[a-z]))"
_UP_TO: Final = r"[^\s\"'`\\]{0,64}?"
# Letters that neither a word nor a name in code has beside each other.
_NO_WORD: Final = (
    rf"(?:(?={_UP_TO}[bcdfghjklmnpqrstvwxz]{{5}})(?-i:(?={_UP_TO}[a-z][A-Z]))|(?-i:(?={_UP_TO}[A-Z][a-z][A-Z])))"
)
ODD: Final = rf"(?:{DIGIT}|{_NO_WORD})"
# A digit with a capital and a small letter, or with a letter and a sign.
MIXED: Final = (
    rf"(?:{DIGIT}(?=[^\s\"'`\\A-Za-z]{{0,64}}+[A-Za-z])(?:{_CASES}|(?=[\w.,:/@|-]{{0,64}}+[!#$%^&*+=?~]))|{_NO_WORD})"
)

# Up to the next space, or sign that code ends a value with.
VALUE: Final = rf"(?!{_NO_VALUE})(?P<secret>[^\s\"'`\\,;&|<>(){{}}\[\]]{{6,4096}}+)"
# Up to the next space, without the signs that end a sentence.
WORD: Final = rf"(?!{_NO_VALUE})(?P<secret>[^\s\"'`\\<>“”«»「」]{{5,255}}[^\s\"'`\\<>“”«»「」,;.:!?)\]}}…])"
# The same beside letters of a language that puts no spaces between words.
ASCII_WORD: Final = rf"(?!{_NO_VALUE})(?P<secret>[!#-&(-;=?-\[\]-_a-~]{{5,255}}[#-&*+/-9=@-Z^_a-z~-])"
# What is long and has no break; code says much after the name of a token that is no token.
RANDOM: Final = (
    rf"(?!{_NO_VALUE})(?:(?=[A-Za-z+/=-]{{0,64}}\d)(?P<secret>[A-Za-z0-9+/=-]{{16,4096}}+)(?![\w(\[]|\.\w)"
    rf"|(?=(?:[^\s\"'`\\\d]{{0,64}}+\d){{2}}){_CASES}(?P<secret>[\w.~+/=%-]{{20,4096}}+)(?![(\[]))"
)
# Between a name and its value: a colon, an equals sign, an arrow or a dash, with the end of the name's own quotation.
SIGN: Final = (
    r"(?:\\{0,3}[\"'`)\]])?\*{0,2}[ \t]{0,8}(?::[ \t]?&?[\w.]{1,24}[ \t]?=|:(?!:)=?|=[=>]?|[：＝→—–]|->|-(?=[ \t]))"
    r"\*{0,2}[ \t]{0,8}(?:[bfnru@$]{1,2}(?=[\"']))?"
)

# What opens a quotation, what it consists of, and what closes it.
_MARKS: Final = (
    (r"\\{1,3}\"", r"[^\s\"\\]", r"\\{1,3}\""),
    ('"', r"(?:[^\s\"\\]|\\[\"'/\\])", '"'),
    ("'", r"(?:[^\s'\\]|\\['/\\])", "'"),
    ("`", r"[^\s`\\]", "`"),
    ("[“„]", r"[^\s“”„\\]", "[“”]"),
    ("‘", r"[^\s‘’\\]", "’"),
    ("«[ \u00a0\u202f]?", r"[^\s«»\\]", "[ \u00a0\u202f]?»"),
    ("「", r"[^\s「」\\]", "」"),
)


def quoted(length: int, ahead: str = "") -> str:
    """A value of at least so many characters without a space, in quotation marks of any sort."""
    forms = (
        rf"{opening}(?!{_NO_QUOTED}){ahead}(?P<secret>{inner}{{{length},512}}+){closing}"
        for opening, inner, closing in _MARKS
    )
    return f"(?:{'|'.join(forms)})"
