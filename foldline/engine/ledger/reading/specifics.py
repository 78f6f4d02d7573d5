"""The specifics of a text: its names, numbers, paths and identifiers, which nobody can find out again from the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Every repetition is bounded, so that hostile text costs no more than other text.
_MONTHS: Final = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_DATE: Final = (
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}})?|{_MONTHS}\.? \d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTHS}"
)
_ENDINGS: Final = (
    "py|ts|tsx|js|jsx|go|rs|sql|ya?ml|toml|md|json|txt|sh|java|c|h|cpp|rb|php|html|css|csv|cfg|ini|lock|log|env|xml|pdf|png"
    "|proto|tf"
)
_CURRENCIES: Final = "dollars?|euros?|USD|EUR|GBP|yuan|元|欧元|块"
_FORMS: Final = (
    ("url", r"https?://[^\s<>\"'`)\]]{1,300}"),
    ("email", r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}"),
    ("flag", r"(?<![\w-])--?[a-z][\w-]{1,40}"),
    ("date", _DATE),
    ("weekday", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"),
    ("time", r"\b\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b"),
    ("money", rf"[$€£¥]\s?\d[\d.,]{{0,15}}\d|[$€£¥]\s?\d|\b\d[\d.,]{{0,15}} ?(?:{_CURRENCIES})"),
    ("percent", r"\b\d[\d.,]{0,8} ?%"),
    ("path", rf"(?:[\w.@~-]{{1,80}})?(?:/[\w.@~-]{{1,80}}){{1,20}}/?|\b[\w-]{{1,60}}\.(?:{_ENDINGS})\b"),
    ("host", r"\b[a-z][\w-]{0,60}(?:\.[a-z][\w-]{0,60}){2,6}\b"),
    ("version", r"\bv?\d{1,5}\.\d{1,5}(?:\.\d{1,8}){0,3}\b"),
    ("ticket", r"\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b|#\d{1,8}\b"),
    ("constant", r"\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b"),
    ("code", r"`[^`\n]{1,120}`"),
    ("hash", r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b"),
    ("mixed", r"\b(?=\w{0,30}\d)(?=\w{0,30}[A-Za-z])\w{2,40}\b"),
    ("snake", r"\b[A-Za-z]\w{0,40}_\w{1,60}\b"),
    ("kebab", r"\b[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{2,30}){1,5}\b"),
    ("camel", r"\b[a-z]{1,30}[A-Z]\w{1,40}\b|\b[A-Z][a-z]{1,30}[A-Z]\w{0,40}\b"),
    ("acronym", r"\b[A-Z]{2,10}\b"),
    ("number", r"\b\d[\d,]{0,15}\b"),
    ("name", "(?<=[a-z,;:)] )[A-Z][\\w'\N{RIGHT SINGLE QUOTATION MARK}-]{1,30}(?: [A-Z][\\w'-]{1,30}){0,3}"),
)
_ANY: Final = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _FORMS))
# Beyond this a line is judged by its beginning.
READ_CHARS: Final = 600
# The forms of what something is set to; those that are more often names of things come later.
VALUES: Final = (
    frozenset({"weekday", "date", "time", "money", "percent", "version", "number"}),
    frozenset({"mixed", "email"}),
    frozenset({"path", "url", "host"}),
    frozenset({"name", "kebab"}),
)


class Specific(NamedTuple):
    """One of a text's specifics: its form, such as `path`, and its text, with its place."""

    form: str
    text: str
    start: int


# A cheap test that finds all of these forms but acronyms, and few other texts.
_LIKELY: Final = re.compile(r"[\d@`$€£¥_]|[a-z][A-Z]|\w/\w|\w-\w|[a-z,;:)] [A-Z]|[a-z]\.[a-z]|day\b")


def has_specifics(text: str) -> bool:
    """Whether a text probably has specifics; it is several times faster than looking for them."""
    return _LIKELY.search(text, 0, READ_CHARS) is not None


def specifics(text: str, most_chars: int = READ_CHARS) -> Iterator[Specific]:
    """The specifics of a text's beginning, in order."""
    for match in _ANY.finditer(text, 0, most_chars):
        yield Specific(match.lastgroup or "", match.group().strip("`").rstrip("."), match.start())
