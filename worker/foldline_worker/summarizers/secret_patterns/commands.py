"""Secrets in commands of shells, in SQL and in calls, where their place marks them."""

from __future__ import annotations

from typing import Final

from foldline_worker.summarizers.secret_patterns.pattern import (
    DIGIT,
    LINE_START,
    MIXED,
    OPENING,
    QUOTE,
    START,
    VALUE,
    WORD,
    any_case,
    exact,
    named,
    quoted,
)

_FLAG: Final = (
    r"--(?:password|passwd|passphrase|pass|pwd|(?:[a-z]{1,12}-){0,2}(?:password|token|secret|key|apikey)|secret-string)"
)
_ARGUMENT: Final = rf"(?:{quoted(4)}|{VALUE})"
# Up to an option of the same command.
_UNTIL: Final = r"[^\n;&|]{0,256}?[ \t]"
# A user and a password with a colon between them, or a key with nothing after the colon.
_LOGIN: Final = rf"{OPENING}(?:[^\s:\"'\\/]{{1,128}}:{WORD}|(?P<secret>[\w-]{{20,4096}}+):(?![^\s\"'\\]))"
_FIRST: Final = rf"{QUOTE}[^\"'\\\n]{{0,64}}{QUOTE},[ \t]{{0,4}}"
# What reads a secret from another command.
_READER: Final = (
    r"[ \t]*\|[ \t]*(?:sudo[ \t]+-\w*S\b|(?:cryptsetup|gpg|kinit|su|passwd)\b"
    r"|(?:docker|gh|helm|podman)[ \t][^\n|]{0,128}?--(?:password-stdin|with-token))"
)


def _commands(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, rf"{START}{name}") for name in names)


# Commands, or what stands in their place, and what follows them.
_ROWS: Final = (
    # A user and a password.
    (
        (*_commands("curl", "wget"), ("http", rf"{START}https?(?=[ \t])"), ("xh", rf"{START}xh(?=[ \t])")),
        rf"(?:[ \t][^\n;&|]{{0,200}}?)?[ \t](?:-u|-a|--user|--auth|--proxy-user)[ \t=]?{_LOGIN}",
    ),
    (_commands("login"), rf"\s{{1,8}}\S{{1,128}}\s{{1,8}}password\s{{1,8}}{VALUE}"),
    ((("bundle", rf"{START}bundle config"),), rf"[^\n]{{0,128}}?[ \t]{_LOGIN}"),
    # Short options.
    (_commands("mysql", "mariadb"), rf"\w{{0,16}}{_UNTIL}-p{_ARGUMENT}"),
    (_commands("sshpass", "twine", "mongo"), rf"{_UNTIL}-p[ \t=]?{_ARGUMENT}"),
    (
        (("login", r"(?<=docker|podman|skopeo|oras|oc|az|buildah|registry) login"),),
        rf"{_UNTIL}-p[ \t=]?{_ARGUMENT}",
    ),
    (_commands("7z"), rf"\w?{_UNTIL}-p{_ARGUMENT}"),
    (_commands("zip", "unzip", "sqlcmd"), rf"{_UNTIL}(?-i:-P)[ \t]?{_ARGUMENT}"),
    (_commands("redis-cli"), rf"{_UNTIL}(?:-a|--pass)[ \t]{_ARGUMENT}"),
    (_commands("ldap"), rf"[a-z]{{3,8}}{_UNTIL}-w[ \t]{_ARGUMENT}"),
    (_commands("ssh-keygen"), rf"{_UNTIL}-[NP][ \t]?{_ARGUMENT}"),
    (_commands("smbclient"), rf"{_UNTIL}-U[ \t]?{OPENING}[^\s%\"']{{1,64}}%{VALUE}"),
    (
        (("secret", "(?<=gh |glab )secret set"),),
        rf"{_UNTIL}(?:-b|--body|--value)[ \t=]{_ARGUMENT}",
    ),
    (
        (("pass", r"(?<=[ \t]-(?:store|key|src\w{0,6}|dest\w{0,6}|new)?)pass(?:wd)?"), ("-pw", r"(?<=[ \t])-pw")),
        rf"[ \t]+{_ARGUMENT}",
    ),
    ((("pass:", r"(?<=[ \t]-pass(?:in|out)?[ \t=])pass:"),), VALUE),
    ((("/p", r"(?<=[ \t])/p(?:ass(?:word)?|w)?:"),), _ARGUMENT),
    ((("--from-literal", "--from-literal"),), rf"[ \t=]{OPENING}[\w.-]{{1,64}}={OPENING}{WORD}"),
    # A place after others.
    (
        _commands("sqlplus"),
        r"[^\n;&|@]{0,128}?[ \t]\"?[\w$#]{1,64}/(?P<secret>[^\s@/\"']{4,128})@",
    ),
    ((("/user:", rf"{START}net use"),), rf"[^\n]{{0,256}}?[ \t]/user:[^\s]{{1,128}}[ \t]+{_ARGUMENT}"),
    (
        _commands("rabbitmqctl"),
        rf"[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+\S{{1,128}}[ \t]+{_ARGUMENT}",
    ),
    (
        _commands("htpasswd"),
        rf"(?=[^\n]{{0,64}}-\w{{0,6}}b)(?:[ \t]+-\w{{1,8}})*+(?:[ \t]+[^\s-]\S{{0,255}}){{1,2}}[ \t]+{_ARGUMENT}",
    ),
    (_commands("setx"), rf"[ \t]+\w{{0,64}}?(?:key|token|secret|pass\w{{0,6}}|pwd)[ \t]+{_ARGUMENT}"),
    (_commands("convertto-securestring"), rf"[ \t]+(?:-String[ \t]+)?{quoted(4)}"),
    (_commands("echo", "printf"), rf"[ \t]+(?:-\w{{1,3}}[ \t]+)?{_ARGUMENT}{_READER}"),
    # SQL, Redis, and devices of networks.
    ((("identified", "identified by"),), rf"[ \t]+(?:password[ \t]+)?{quoted(4)}"),
    ((("setuser", "acl setuser"),), rf"[^\n]{{0,128}}?[ \t]>{VALUE}"),
    (
        (("requirepass", rf"{LINE_START}[ \t]*requirepass"),),
        rf"[ \t]+{_ARGUMENT}",
    ),
    ((("snmp-server", "snmp-server community"),), rf"[ \t]+{VALUE}"),
    ((("psk", r"(?<=:[ \t]?)psk"),), rf"[ \t]+{quoted(4)}"),
    # Arguments of calls.
    (
        (("auth", "auth"), ("login", "login"), ("credential", r"credentials?\w{0,8}")),
        rf"[ \t]?=?[ \t]?\((?:[^()\n\"']{{0,64}}(?:{_FIRST})??){{0,3}}?{_FIRST}{quoted(6, DIGIT)}[ \t]?\)",
    ),
    ((("jwt", r"jwt\.(?:sign|verify|encode|decode)\("),), rf"[^()\n]{{0,64}}?,[ \t]?{quoted(16, DIGIT)}"),
    ((("bcrypt", r"bcrypt\.\w{1,24}\("),), rf"[ \t]?{quoted(6, MIXED)}"),
    ((("fernet(", r"fernet\("),), rf"[ \t]?b?{QUOTE}(?P<secret>[\w=-]{{40,4096}}+)"),
    ((("algoliasearch(", r"algoliasearch\("),), rf"{_FIRST}{quoted(20)}"),
)

COMMANDS: Final = (
    any_case("credential", rf"{_FLAG}(?:={_ARGUMENT}|[ \t]+{quoted(4, DIGIT)})", "--"),
    # After a space, a word without a digit is rather the next word of a sentence.
    any_case("credential", rf"{_FLAG}[ \t]+{OPENING}{DIGIT}{VALUE}", "--"),
    *(pattern for names, following in _ROWS for pattern in named("credential", names, following)),
    *named(
        "private key",
        (("genkey", rf"{START}wg genkey"),),
        r"[^\n\\]{0,64}+(?:\s|\\[nr]){1,4}(?P<secret>[A-Za-z0-9+/]{43}=)",
    ),
    any_case(
        "credential",
        rf"(?<={QUOTE}[\w.-]{{1,64}}:(?P<secret>[^\n\"'\\]{{4,128}}){QUOTE}[ \t]{{0,4}}\|[ \t]{{0,4}}(?:sudo )?)"
        r"chpasswd\b",
        "chpasswd",
    ),
    # A line of `.pgpass`.
    exact(
        "credential",
        rf"{LINE_START}[\w.*-]{{1,128}}:(?:5432|5433|6432|\*):[^\s:]{{1,64}}:[^\s:]{{1,64}}:"
        r"(?P<secret>[^\s\"'\\]{4,128})",
        *(":5432:", ":5433:", ":6432:", ":*:"),
    ),
)
