"""Secrets in files and outputs of a known structure."""

from __future__ import annotations

from typing import Final

from foldline_worker.summarizers.secret_patterns.pattern import NEWLINE, SPACE, any_case, exact, named

_QUOTE: Final = r"\\{0,3}\""
_COLON: Final = rf"{_QUOTE}: ?"
_STRING: Final = rf"{_QUOTE}(?P<secret>[^\"\n\\]{{4,512}}+){_QUOTE}"
_LINES: Final = rf"(?:{NEWLINE}(?!---)[^\n\\]{{0,200}}+){{0,30}}?{NEWLINE}[ \t]*"
_KEY: Final = rf"{NEWLINE}[ \t]+[\w.-]{{1,128}}: ?"
_CODE: Final = r"(?=[^\s\d]{0,16}\d)[a-z0-9-]{6,24}"

STRUCTURES: Final = (
    # Values in a Secret of Kubernetes, whatever their names.
    exact(
        "credential",
        rf"(?<![A-Za-z])data:(?:{_KEY}\"?(?P<secret>[A-Za-z0-9+/]{{4,8192}}+={{0,2}})\"?){{1,64}}+"
        rf"{_LINES}kind: Secret\b",
        "secret",
    ),
    exact(
        "credential",
        rf"kind: Secret{_LINES}(?:d|stringD)ata:"
        rf"(?:{_KEY}(?:{_QUOTE}|')?(?P<secret>(?![{{$<])[^\s\"'\\]{{4,8192}}+)(?:{_QUOTE}|')?){{1,64}}+",
        "secret",
    ),
    exact(
        "credential",
        rf"{_QUOTE}data{_COLON}\{{(?:{SPACE}*+{_QUOTE}[\w.-]{{1,128}}{_COLON}{_STRING},?){{1,64}}+{SPACE}*+\}}"
        rf"[^\0]{{0,1000}}?{_QUOTE}kind{_COLON}{_QUOTE}Secret{_QUOTE}",
        *('secret"', 'secret\\"'),
    ),
    # Outputs and state of Terraform.
    exact(
        "credential", rf"{_QUOTE}sensitive{_COLON}true\b[^{{}}]{{0,200}}?{_QUOTE}value{_COLON}{_STRING}", "sensitive"
    ),
    exact(
        "credential", rf"{_QUOTE}value{_COLON}{_STRING}[^{{}}]{{0,200}}?{_QUOTE}sensitive{_COLON}true\b", "sensitive"
    ),
    exact("credential", rf"random_password[^\0]{{0,1000}}?{_QUOTE}result{_COLON}{_STRING}", "random_password"),
    # A file of Kaggle, and one of Rails.
    any_case(
        "credential",
        rf"{_QUOTE}username{_COLON}{_QUOTE}[^\"\\\n]{{0,128}}{_QUOTE}, ?{_QUOTE}key{_COLON}{_STRING}",
        "username",
    ),
    exact("credential", rf"master\.key\b[^\n\\]{{0,64}}{NEWLINE}(?P<secret>[0-9a-f]{{32}})\b", "master.key"),
    *named(
        "recovery code",
        (("code", "(?<=(?:recovery|backup|rescue|wiederherstellungs)[ -]?)codes?"),),
        rf"[^\n\\]{{0,64}}?(?:{NEWLINE}[ \t]*(?:[-*•]|\d{{1,2}}[.)])?[ \t]*"
        rf"(?P<secret>[a-z0-9]{{4,12}}(?:[- ][a-z0-9]{{4,12}}){{0,5}})[ \t]*(?={NEWLINE}|\"|\Z)){{1,20}}+",
        rf"[ \t]?[:=][ \t]?(?P<secret>{_CODE}(?:[ ,]{{1,2}}{_CODE}){{0,19}})",
    ),
)
