"""Values that the name before them marks as secrets."""

from __future__ import annotations

from typing import Final

from foldline_worker.summarizers.secret_patterns import words
from foldline_worker.summarizers.secret_patterns.pattern import (
    ASCII_WORD,
    DIGIT,
    LINE_END,
    MIXED,
    NEWLINE,
    ODD,
    OPENING,
    QUOTE,
    RANDOM,
    SIGN,
    SPACE,
    START,
    VALUE,
    WORD,
    any_case,
    named,
    quoted,
)

# A verb such as `is`; a sign or verb with words before it: `password for the admin:`, `set the password of mona to`.
_IS: Final = r"(?:'s|’s|[ \t](?:is|was|ist|lautet|est|es|é|è|er|är|jest|là)(?::|[ \t]now|[ \t]still)?)[ \t]"
_VERB: Final = rf"(?:{_IS}|[ \t]to[ \t])"
_LATER: Final = (
    r"(?:[ \t][^\s:：=]{1,40}){1,8}?"
    r"(?:[ \t]?(?:[:：=→—–]|->)[ \t]|[ \t](?:is|to|ist|lautet|auf|est|à|es|é|è|a)[ \t][`*“„«]{0,2})"
)
_UNSPACED_IS: Final = r"[ \t]?(?:是|为|為|は|：)[ \t]?"
_UNSPACED_VERB: Final = (
    r"[ \t]?(?:是|为|為|は|が|는|은|이|가|(?:已|被)?(?:修?改|更新|重?[设設置]置?)(?:成|为|為))?"
    r"(?:[ \t]?(?:[:：=＝]|->|→))?[ \t]?"
)
# Two arguments of a call, or of a list.
_COMMA: Final = rf"{QUOTE}[ \t]{{0,8}},[ \t]{{0,16}}"
# As shells and `.env` files have it: a name in capitals, maybe with a stage after it, and no space.
_ASSIGNED: Final = (
    r"(?-i:(?<=[A-Z]{2}\d?)(?:_(?!FILE|PATH|DIR|UR[IL]|ID|NAME|TYPE|TTL|EXP|M(?:IN|AX)|LEN|SIZE|COUNT|LIMIT|HASH|ALG"
    r"|PREFIX|BACKEND|PROVIDER|ENDPOINT|HOST|ISSUER|KIND|REF|ARN|STORE|FIELD|HEADER|POLICY|VERSION)[A-Z0-9]{1,16}"
    r"){0,2}=)"
)
# A list of names and values (`{"name": "TOKEN", "value": "…"}`), an element of XML, a field of a form, a table.
_PAIR: Final = rf"{OPENING}[ \t]{{0,4}}[,;]?{SPACE}{{0,40}}+{OPENING}value{OPENING}[ \t]{{0,4}}[:=][ \t]{{0,4}}"
_ELEMENT: Final = rf"(?:>(?:{SPACE}{{0,40}}<value>)?|</key>{SPACE}{{0,40}}<string>)"
_FIELD: Final = rf"{QUOTE}[^<>\n]{{0,128}}?[ \t]value="
_CELL: Final = r"[`*]{0,2}[ \t]{1,40}\|[ \t]{1,40}[`*]{0,2}"
# Lines of a table whose last column has the name.
_COLUMN: Final = (
    rf"(?<=[,;]\"?\w{{4,12}})\"?(?:{NEWLINE}(?:[^\n\\,;]{{0,128}}[,;]){{1,12}}\"?"
    r"(?P<secret>[^\n\r\\,;\"]{4,128})\"?){1,1000}+"
)
_NEXT_LINE: Final = rf"[ \t]{{0,4}}[:：]\*{{0,2}}[ \t]{{0,4}}{NEWLINE}{{1,2}}[ \t]{{0,8}}"
# What a tool prints below the name, and what a script of Expect answers.
_PRINTED: Final = rf"{NEWLINE}(?P<secret>[0-9a-f]{{32}}|{MIXED}[A-Za-z0-9]{{12,64}}){LINE_END}"
_SENT: Final = rf":?[ \t]?{QUOTE}{SPACE}{{1,8}}send[ \t]{{1,4}}{QUOTE}(?P<secret>[^\"'\\\n]{{4,128}})"
# A password of an app, as Google shows it.
_APP: Final = r"(?P<secret>[a-z]{4}(?: [a-z]{4}){3})(?![ \w])"
# An argument of a call that has the name in it.
_NEAR: Final = r"[^\n]{0,40}?[(,=][ \t]?"
_FROM: Final = r"[^\n]{0,24}?[ \t](?:from|von|de)[ \t]"
_TO: Final = r"[ \t](?:to|auf|zu|à|a)[ \t]"
# Words of small letters, in quotes or with dashes between them.
_PHRASE: Final = (
    rf"(?:{QUOTE}(?P<secret>[a-z]{{3,16}}(?:[ ._-][a-z0-9]{{2,16}}){{3,23}}){QUOTE}"
    r"|(?P<secret>[a-z]{3,16}(?:-[a-z]{3,16}){3,11})(?![\w(-]))"
)
# Not a number of something with its unit, and not the first of several names with values.
_NO_NUMBER: Final = r"(?!\d[\d.,:]*+[a-z%]{0,3}(?![^\s,;)]))"
_NO_LIST: Final = r"(?![^\s,]{0,64},[\w\"'-]{1,32}[:=])"
# As Cisco writes it, with the number of a cipher.
_CIPHER: Final = r"[ \t][05789][ \t](?P<secret>[^\s\"'\\]{6,128})"
_ALONE: Final = rf"(?:{START}|(?-i:(?<=[a-z])(?=[A-Z])))"
# The value first: `use X as the password`.
_EARLIER: Final = (
    rf"[\s\"'`]{MIXED}{WORD}[\"'`]?[ \t](?:as|is)[ \t](?:the|your|my|our|its)[ \t](?:\w{{1,12}}[ \t]){{0,2}}"
)

_PASSWORDS: Final = (
    *named(
        "credential",
        ((word, rf"{name}\d{{0,2}}") for word, name in words.LONG),
        # In quotes, any word; else one with a digit, since code and prose say much after such a name.
        rf"(?:{SIGN}|{_VERB}|[ \t]){quoted(6)}",
        rf"{_COMMA}{quoted(6, MIXED)}",
        rf"{_ASSIGNED}{OPENING}{VALUE}",
        rf"(?:{SIGN}|{_VERB}){OPENING}{ODD}{_NO_LIST}{WORD}",
        rf"{_UNSPACED_IS}(?:{quoted(6)}|{ODD}{ASCII_WORD})",
        rf"(?:{_LATER}|[ \t]|{_CELL}){OPENING}{MIXED}{WORD}",
        rf":[ \t]{{1,4}}(?P<secret>[a-z]{{8,64}}+){LINE_END}",
        rf"(?:{_PAIR}|{_FIELD})(?:{quoted(4)}|{WORD})",
        rf"{_ELEMENT}(?!\$|\{{)(?P<secret>[^\s<>\\]{{6,256}}+)</",
        rf"{_NEXT_LINE}{MIXED}{WORD}{LINE_END}",
        rf"{_FROM}{MIXED}{WORD}{_TO}{MIXED}{WORD}",
        rf"{SIGN}{_PHRASE}",
        rf"(?:{SIGN}|{_IS}){OPENING}{_APP}",
        rf"{_NEAR}{quoted(8, MIXED)}",
        _PRINTED,
        _SENT,
        _COLUMN,
        _CIPHER,
    ),
    *named(
        "credential",
        ((word, rf"{_ALONE}{name}\d{{0,2}}") for word, name in words.SHORT),
        rf"(?:{SIGN}|{_IS}){quoted(6, ODD)}",
        rf"{_ASSIGNED}{OPENING}{VALUE}",
        rf"(?:{SIGN}|{_IS}){OPENING}{ODD}{_NO_NUMBER}{_NO_LIST}{WORD}",
        rf"(?:{_PAIR}|{_FIELD})(?:{quoted(4)}|{WORD})",
        rf"(?<!pass)(?:{_LATER}|[ \t]){OPENING}{MIXED}{WORD}",
        _COLUMN,
    ),
    *named("credential", words.UNSPACED, rf"{_UNSPACED_VERB}(?:{quoted(6)}|{ODD}{ASCII_WORD})"),
    *named(
        "credential", words.LOGINS, rf"[ \t]?(?:[:：=]|are|is|sind)[ \t]?[^\s/|]{{1,64}}[ \t]?[/|,:][ \t]?{MIXED}{WORD}"
    ),
)
_KEYS: Final = (
    *named(
        "credential",
        ((word, rf"{name}\d{{0,2}}") for word, name in words.KEYS),
        rf"(?:{SIGN}|{_COMMA}|{_VERB}){quoted(12, DIGIT)}",
        rf"{_ASSIGNED}{OPENING}{VALUE}",
        rf"(?:{SIGN}|{_VERB}|{_PAIR}|{_COMMA}(?={QUOTE})|{_UNSPACED_IS}){OPENING}{RANDOM}",
        rf"{_LATER}{OPENING}{MIXED}(?P<secret>[\w+/=.~-]{{20,4096}}+)(?![(\[])",
        rf"(?:{_LATER}|[ \t]){OPENING}(?P<secret>[0-9a-f]{{32,256}}+)(?![\w-])",
        rf"(?:\.\w{{1,32}})?[ \t]{{1,4}}{OPENING}{MIXED}(?P<secret>[A-Za-z0-9+/=_-]{{20,4096}}+)(?![\w(\[.])",
        rf"{_ELEMENT}{DIGIT}(?P<secret>[^\s<>\\]{{12,256}}+)</",
        # A token with which nodes join a cluster of Kubernetes.
        rf"(?:{SIGN}|[ \t]){OPENING}(?P<secret>[a-z0-9]{{6}}\.[a-z0-9]{{16}})(?![\w.])",
        _CIPHER,
    ),
    *named("credential", words.UNSPACED_KEYS, rf"{_UNSPACED_VERB}{OPENING}{RANDOM}"),
    *named(
        "credential",
        (("basic", rf"{START}basic"),),
        rf"(?:[ \t][\w:]{{1,16}}){{0,3}}?[ \t]{OPENING}{MIXED}"
        r"(?P<secret>[A-Za-z0-9+/]{16,4096}+={0,2})(?![\w(\[.-])",
    ),
    *named(
        "credential",
        (("_pat", "_pat"),),
        rf"{SIGN}{OPENING}{DIGIT}(?P<secret>[A-Za-z0-9]{{32,128}}+)(?![^\s\"'\\])",
    ),
)
_OTHERS: Final = (
    *(
        any_case("credential", rf"(?<={_EARLIER}){name}", name)
        for name in ("password", "passphrase", "passcode", "token", "secret", "key")
    ),
    *named(
        "seed phrase",
        (
            ("mnemonic", "mnemonic"),
            ("phrase", "(?<=(?:seed|recovery|secret|backup)[ _-])phrase"),
            ("words", "(?<=(?:seed|recovery|secret|backup)[ _-])words"),
        ),
        rf"{SIGN}{OPENING}(?P<secret>[a-z]{{3,12}}(?: [a-z]{{3,12}}){{11,23}})",
    ),
    *named(
        "one time secret",
        ((name, rf"{START}{name}\b") for name in ("totp", "otp", "2fa", "mfa")),
        r"[^\n]{0,32}?[ :=\"'](?P<secret>(?-i:[A-Z2-7]{16,64}))(?!\w)",
    ),
    *named(
        "private key",
        (
            *((name, rf"{START}{name}\b") for name in ("wif", "bitcoin", "wallet")),
            ("private", "private[ _-]?keys?"),
        ),
        r"\W{1,8}(?:[a-z]{1,12}\W{1,4}){0,3}(?P<secret>(?-i:[5KL][1-9A-HJ-NP-Za-km-z]{50,51}))(?!\w)",
        r"[^\n]{0,32}?(?P<secret>0x[0-9a-f]{64})",
    ),
    *named(
        "cookie",
        (("session", rf"{START}session"), ("remember", rf"{START}remember(?:_?me)?")),
        rf"{SIGN}{QUOTE}{MIXED}(?P<secret>[\w.%+/=-]{{24,4096}}+){QUOTE}",
    ),
    *named(
        "cookie",
        (("sessid", "sessid"), ("sessionid", "sessionid"), ("connect.sid", r"connect\.sid")),
        rf"{SIGN}{OPENING}{DIGIT}(?P<secret>(?![0-9a-f]{{8}}-)[\w.%+/=-]{{20,4096}}+)",
    ),
)

NAMES: Final = (*_PASSWORDS, *_KEYS, *_OTHERS)
