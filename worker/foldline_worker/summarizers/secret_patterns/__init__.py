"""Patterns of secrets that the library `redact-secret` misses, as rows: a new one is a row in one of these modules.

A session has excerpts of files, line numbers and shell commands, so a secret may be cut short, or recognized only by
the text around it. Each pattern runs in linear time: what repeats is bounded, possessive, or begins with a literal.
`regex` compiles them: until Python 3.11.3, a possessive repetition in `re` may end too early.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from foldline_worker.summarizers.secret_patterns.addresses import ADDRESSES
from foldline_worker.summarizers.secret_patterns.commands import COMMANDS
from foldline_worker.summarizers.secret_patterns.keys import KEY_TOKENS, KEYS
from foldline_worker.summarizers.secret_patterns.names import NAMES
from foldline_worker.summarizers.secret_patterns.no_secrets import COMPUTED, EMPTY
from foldline_worker.summarizers.secret_patterns.pattern import SecretPattern
from foldline_worker.summarizers.secret_patterns.structures import STRUCTURES
from foldline_worker.summarizers.secret_patterns.tokens import FORMS

__all__ = ["COMPUTED", "EMPTY", "PATTERNS", "TOKENS", "SecretPattern"]


def _by_word(patterns: Iterable[SecretPattern]) -> Mapping[str, tuple[SecretPattern, ...]]:
    index: dict[str, tuple[SecretPattern, ...]] = defaultdict(tuple)
    for pattern in patterns:
        for word in pattern.words:
            index[word] += (pattern,)
    return index


# Each word with the patterns whose matches may have it.
PATTERNS: Final = _by_word((*KEYS, *ADDRESSES, *NAMES, *COMMANDS, *STRUCTURES))
# The same of those that begin within a long word which is no word of a language.
TOKENS: Final = _by_word((*FORMS, *KEY_TOKENS))
