"""The certificate authorities that the gateway trusts at providers, and what is said of a certificate of another."""

from __future__ import annotations

import logging
import os
import ssl
from typing import Final

import httpx

logger = logging.getLogger(__name__)

# The variable in which agents that run on Node name a company's authority.
EXTRA: Final = "NODE_EXTRA_CA_CERTS"
# Each names all authorities that are trusted: httpx reads them.
_ALL: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def trusted_authorities() -> ssl.SSLContext:
    """A context that trusts what an agent trusts: the authorities of certifi, of the system, and of `EXTRA`.

    `SSL_CERT_FILE` or `SSL_CERT_DIR` takes the place of the first two.
    """
    context = httpx.create_ssl_context()
    if not any(map(os.environ.get, _ALL)):
        context.load_default_certs()
    extra = os.environ.get(EXTRA)
    if extra:
        try:
            context.load_verify_locations(extra)
        except OSError as error:
            logger.warning("no certificates are read from %s=%s: %s", EXTRA, extra, error.strerror or error)
    return context


def distrust_in(error: BaseException | None) -> str | None:
    """Why a certificate was refused; None if the error has another cause."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error.verify_message if error else None
