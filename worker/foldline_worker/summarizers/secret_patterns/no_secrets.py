"""What stands where a secret would and is none: placeholders, labels, and names in code."""

from __future__ import annotations

from typing import Final

import regex

_WORDS: Final = (
    r"your|my|the|our|some|this|that|an?|example|sample|dummy|fake|mock|test|placeholder|change|replace|insert|enter|put"
    r"|fill|paste|goes|here|me|it|in|with|of|for|to|and|or|is|as|not?|redacted|removed|hidden|masked|sensitive|omitted"
    r"|truncated|none|null|nil|true|false|undefined|empty|unset|string|str|text|bytes?|int|bool|any|object|optional"
    r"|required|invalid|incorrect|wrong|missing|valid|username|user|name|login|strong|secure|long|random|password|passwd"
    r"|passphrase|pass|pwd|secret|tokens?|keys?|api|access|refresh|auth|client|private|public|bearer|basic|values?|field"
    r"|input|form|type|id|url|env|var|config|settings|default|current|new|old|confirm|reset|forgot|hash|next|previous"
    r"|page|continuation|session|marker|start|credentials?|provider|provided|mandatory|encrypted|hashed|unchanged|enabled|disabled|unknown|prompted"
)
# A part of a name in code that speaks of secrets, and of a label of a form in some language.
_NAME: Final = r"(?:pass|pwd|token|secret|key|auth|cred)"
_LABEL: Final = (
    r"(?:pass|kennwort|schlüssel|contrase|clave|clé|senha|wachtwoord|hasło|heslo|lösenord|jeton|token"
    r"|парол|密|パス|비밀)"
)

# The whole of a value that says nothing: `your-api-key-here`, `changeme`, `xxxxxxxx`, `ghp_xxxxxxxx`, `…EXAMPLEKEY`,
# `Passwort vergessen?`; and the name of a secret that is kept elsewhere: `postgres-password`.
EMPTY: Final = regex.compile(
    rf"(?!secret$)[(<]?(?:(?:{_WORDS})[-_ .:/]?){{1,12}}\d?"
    r"|(?:[a-z]{1,24}[-_.]){1,6}(?:password|secret|token|key|credentials)"
    r"|(?:[a-z0-9]{1,12}[-_]){0,3}([x*•.#_-])\1{3,}[-_x*•.#]*+"
    r"|(?-i:[A-Za-z0-9+/]{0,64}EXAMPLE(?:KEY)?)"
    rf"|(?=[^\n]{{0,64}}?{_LABEL})(?-i:\p{{Lu}})[\p{{L}} ]{{1,64}}[?!.:…]?",
    regex.IGNORECASE,
)
# What code computes, from the start of a value: a path of names, or a name that a sign of code follows. And the name
# of a secret in AWS.
COMPUTED: Final = regex.compile(
    r"(?<![\"'`])(?:"
    r"(?:self|this|cls|config|settings|process|secrets|args|options|params|req|request|ctx|conn\w{0,12}|row|obj)"
    r"(?:\??\.[A-Za-z_]\w*+)++"
    rf"|(?=[\w.:>-]{{0,64}}{_NAME})[A-Za-z_]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+)++"
    rf"|(?=\w{{0,64}}{_NAME})[A-Za-z]++_[A-Za-z_]*v?\d?(?![\w!@#$%^&*-])"
    r"|[A-Za-z_.]++(?=[(\[]|[ \t]*[|=])"
    r")(?:\(\S*+|[)\]};,]*+)|(?<=:secretsmanager:[\w-]{1,32}:\d{1,16}:secret:)\S++",
    regex.IGNORECASE,
)
