"""The key that hides the terms of recall's index: random, kept encrypted in the database, the same for all processes.

It outlives the keys of the service: rows that were written before a rotation are found after it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import add
from typing import Final

from foldline.log.access.shared_secrets import SECRET_BYTES, secret_in, shared_secret
from foldline.log.sealing.cipher import hidden_term
from foldline.log.storage.store import Store, Transaction

NAME: Final = "recall-terms"
# Nothing is indexed before there is a key, so that what this one gives is not found.
_NO_KEY: Final = bytes(SECRET_BYTES)


def make_term_key(store: Store) -> None:
    """Make the key if the service encrypts and has none yet; before the first entry is indexed.

    Raises:
        Unavailable: the database does not answer.
    """
    if store.cipher is not None:
        shared_secret(store, NAME)


def hiding(tx: Transaction) -> Callable[[str, str], str]:
    """What a term of a scope is in the index: the term itself, or what hides it, each behind its scope."""
    return add if tx.cipher is None else partial(_hidden, secret_in(tx, NAME) or _NO_KEY)


def _hidden(key: bytes, scope: str, term: str) -> str:
    # With its scope, so that the same word is another one in each session.
    return scope + hidden_term(key, scope + term)
