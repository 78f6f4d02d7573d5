"""Whether a process has the keys of what its database holds. The database lists the names of the keys in use."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from sqlalchemy import LargeBinary, select, type_coerce
from sqlalchemy.exc import IntegrityError

from foldline.log.errors import SealingKeyMissing
from foldline.log.sealing.listed_keys import list_key, listed_keys, missing_keys
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION

logger = logging.getLogger(__name__)

_TOOLS: Final = select(type_coerce(SESSION.c.tools, LargeBinary)).limit(1)
# `encrypt_all` comes to the oldest session last. A process without the key, which was not stopped, has made newer ones.
_OLDEST_AND_NEWEST: Final = (_TOOLS.order_by(SESSION.c.pk), _TOOLS.order_by(SESSION.c.pk.desc()))


def check_keys(store: Store) -> None:
    """Check that the process has the keys that the database needs, and list the one that encrypts from now on.

    Raises:
        SealingKeyMissing: it has values of a key that the process does not have.
    """
    cipher = store.cipher
    with store.read() as tx:
        missing, listed = missing_keys(tx), listed_keys(tx)
        stored = [tx.execute(query).scalar() for query in _OLDEST_AND_NEWEST]
    if missing:
        raise SealingKeyMissing(missing[0])
    if cipher is None:
        return
    if cipher.first not in listed:
        # Another process may be first.
        with suppress(IntegrityError), store.write() as tx:
            list_key(tx, cipher.first)
    if not all(value is None or cipher.is_newest(bytes(value)) for value in stored):
        logger.warning("older values are not encrypted with the first key yet: run `foldline encrypt`")
