"""Patterns of secrets that the library `redact-secret` misses, because it needs a secret at its full length.

A session has excerpts of files, line numbers and shell commands, so a secret may be cut short, or recognized only by
the text before it. The pattern's group `secret` is the secret, or else the whole match. Each pattern runs in linear
time: what repeats is bounded, possessive, or begins with a literal. `regex` compiles them: until Python 3.11.3, a
possessive repetition in `re` may end too early.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import regex


class SecretPattern(NamedTuple):
    """A kind of secret, as its placeholder names it, and the pattern that finds it.

    If there are `words`, every match has one of them, in lower case; looking for words first is much faster.
    """

    kind: str
    found: regex.Pattern[str]
    words: tuple[str, ...] = ()

    def is_possible(self, folded: str) -> bool:
        """Whether a text may have a match; `folded` is its `casefold()`."""
        return not self.words or any(word in folded for word in self.words)


# No value: a variable, template, path or call, or what a text leaves out: `$KEY`, `{key}`, `/a/key`, `key()`, `sk-...`
_NO_VALUE: Final = r"[$*<{\[(]|%[s({]|~?\.{0,2}/|[\w.]{1,64}[(\[]|\S{0,16}(?:\.\.\.|…)"
_VALUE: Final = rf"(?!{_NO_VALUE})(?P<secret>[^\s\"'`\\,;&|<>(){{}}\[\]]{{6,}})"
_OPENING: Final = r"\\?[\"']?"
# A line of a key in base64, after what tools put in front of lines: a number, a bar, an arrow.
_KEY_LINE: Final = r"(?:\s|\\[nr])++(?:\d{1,7}[\s:|→]{1,3})?+[|>]?+[A-Za-z0-9+/=]{16,}+"
_KEY_HEADER: Final = r"(?:\s|\\[nr])++(?:Proc-Type|DEK-Info|Comment|Version): [^\n\\]{0,200}+"
_KEY_NAME: Final = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"

PATTERNS: Final = (
    SecretPattern(
        "private key",
        regex.compile(
            rf"-----BEGIN {_KEY_NAME}"
            rf"(?:(?:[^-]|-(?!----)){{0,16384}}+-----END {_KEY_NAME}|(?:{_KEY_HEADER})*+(?:{_KEY_LINE})*+)"
        ),
    ),
    SecretPattern("private key", regex.compile(rf"Private-Lines: \d{{1,4}}(?P<secret>(?:{_KEY_LINE})++)")),
    SecretPattern("private key", regex.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{20,}")),
    SecretPattern("github token", regex.compile(r"(?:gh[oprsu]|github_pat)_[A-Za-z0-9_]{16,}")),
    SecretPattern(
        "provider api key",
        regex.compile(
            r"(?<!\w)sk-(?:(?:admin|ant|lf|or|proj|svcacct)-[\w-]{16,}|(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{20,})"
        ),
        ("sk-",),
    ),
    SecretPattern("slack token", regex.compile(r"xox[abeoprs]-[\w-]{16,}")),
    SecretPattern("google access token", regex.compile(r"ya29\.[\w-]{20,}")),
    SecretPattern(
        "webhook", regex.compile(r"hooks\.slack\.com/(?:services|triggers|workflows)/(?P<secret>[\w/-]{16,})")
    ),
    SecretPattern("webhook", regex.compile(r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{1,24}/[\w-]{16,})")),
    SecretPattern(
        "url credential",
        regex.compile(r"://[^\s/?#:@\"'<>]{0,128}+:(?![$*<{\[]|%[s({])(?P<secret>[^\s/?#\"'<>\\]{1,256})@"),
    ),
    # A slash in it, where what stands before that is no port, and what follows an at sign no name of a host.
    SecretPattern(
        "url credential",
        regex.compile(
            r"://(?!\[)[^\s/?#:@\"'<>]{0,128}+:(?![$*<{\[]|%[s({]|\d{1,5}/)"
            r"(?P<secret>[^\s/?#@\"'<>\\]{1,256}+(?:@[^\s/?#@.:\"'<>\\]{0,64}+)?/[^\s?#@\"'<>\\]{0,256}+"
            r"(?:@[^\s/?#\"'<>\\]{0,128})?)@"
        ),
    ),
    SecretPattern("url credential", regex.compile(r"://(?P<secret>[A-Za-z0-9_-]{20,256}+)@")),
    SecretPattern(
        "url credential",
        regex.compile(
            r"[?&](?:(?:access|id|refresh|auth)_?token|token|api_?key|sig|signature|x-(?:amz|goog)-signature"
            r"|x-amz-security-token)=(?P<secret>[\w%.~+/=-]{16,})",
            regex.IGNORECASE,
        ),
        ("token=", "key=", "sig=", "signature="),
    ),
    # As shells and `.env` files have it: a name that ends so, and no space.
    SecretPattern(
        "credential",
        regex.compile(
            r"(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|SECRET|TOKEN|(?:API|ACCESS|PRIVATE|SECRET|AUTH|SIGNING|ENCRYPTION)_?KEY)="
            rf"{_OPENING}{_VALUE}"
        ),
        ("password=", "passwd=", "passphrase=", "_pass=", "_pwd=", "secret=", "token=", "key="),
    ),
    SecretPattern(
        "credential",
        regex.compile(rf"--(?:password|passwd|passphrase|(?:[a-z]{{1,12}}-)?(?:token|secret|key))={_OPENING}{_VALUE}"),
    ),
    # After a space, a word without a digit is rather the next word of a sentence.
    SecretPattern(
        "credential",
        regex.compile(
            rf"--(?:password|passwd|passphrase|(?:[a-z]{{1,12}}-)?(?:token|secret|key))[ \t]+{_OPENING}"
            rf"(?=[^\s\d]{{0,64}}\d){_VALUE}"
        ),
    ),
    SecretPattern(
        "credential",
        regex.compile(
            r"(?:password|passwd|passphrase)(?:\\?[\"'])?[ \t]{0,8}(?::=?|=>?|[ \t]is:?)[ \t]{0,8}"
            rf"{_OPENING}(?=[^\s\d]{{0,64}}\d){_VALUE}",
            regex.IGNORECASE,
        ),
        ("passw", "passphrase"),
    ),
    # A short name only where it is a key in quotes, and its value is too.
    SecretPattern(
        "credential",
        regex.compile(
            rf"\"(?:pass|pwd)\\?\"[ \t]{{0,8}}:[ \t]{{0,8}}\\?\"(?=[^\s\d]{{0,64}}\d){_VALUE}",
            regex.IGNORECASE,
        ),
    ),
    # Code says much after such a name; what is long, without a break and with a digit is rather a value.
    SecretPattern(
        "credential",
        regex.compile(
            r"(?:token|secret|(?:api|access|private|auth)[_-]?key)(?:\\?[\"'])?[ \t]{0,8}(?::=?|=>?)[ \t]{0,8}"
            rf"{_OPENING}(?=[A-Za-z+/=-]{{0,64}}\d)(?!{_NO_VALUE})(?P<secret>[A-Za-z0-9+/=-]{{16,}}+)(?![\w(\[]|\.\w)",
            regex.IGNORECASE,
        ),
        ("token", "secret", "key"),
    ),
    SecretPattern(
        "credential", regex.compile(rf"\blogin\s{{1,8}}\S{{1,128}}\s{{1,8}}password\s{{1,8}}{_VALUE}"), ("login",)
    ),
    SecretPattern(
        "credential",
        regex.compile(
            r"\b(?:(?:sshpass|docker login)\b[^\n;&|]{0,128}?[ \t]-p[ \t]?|mysql\w{0,16}\b[^\n;&|]{0,128}?[ \t]-p)"
            rf"{_OPENING}{_VALUE}"
        ),
        ("sshpass", "docker login", "mysql"),
    ),
    SecretPattern(
        "cookie",
        regex.compile(
            r"\bcookie\\?[\"']?:[ \t]{0,8}\\?[\"']?(?P<secret>[\w.-]{1,128}=[^\r\n\"'\\]{6,})",
            regex.IGNORECASE,
        ),
        ("cookie",),
    ),
)
