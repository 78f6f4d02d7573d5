"""What browsers may do: foreign pages get nothing from a service without keys, and no page frames an answer."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline_api.http.known_keys import KnownKeys
from foldline_api.http.problems import Unauthorized, problem

FOREIGN_PAGE: Final = "without API keys this service answers programs, and the web pages that it serves itself"
# A browser names the relation of the page to this service; programs send no such header. `none` is a typed address.
OWN_SITES: Final = frozenset({"same-origin", "none"})
SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)


class BrowserRules:
    """Middleware: without keys it answers 401 to requests of foreign pages; `bare_paths` get no headers of ours.

    With keys, a foreign page has none: browsers send no key by themselves, and the service allows no cross-origin use.
    """

    def __init__(self, app: ASGIApp, *, keys: KnownKeys, bare_paths: tuple[str, ...] = ()) -> None:
        self._app = app
        self._keys = keys
        self._bare_paths = bare_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS]}
            await send(message)

        is_bare = scope["path"].startswith(self._bare_paths)
        answer = send if is_bare else with_headers
        if not self._keys.are_needed and _is_of_foreign_page(Headers(scope=scope)):
            await problem(Unauthorized(FOREIGN_PAGE))(scope, receive, answer)
        else:
            await self._app(scope, receive, answer)


def _is_of_foreign_page(headers: Headers) -> bool:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in OWN_SITES:
        # Whoever follows a link sees the answer, and the page that has the link does not.
        return headers.get("sec-fetch-mode") != "navigate" or origin is not None
    return origin is not None and _authority(origin) != headers.get("host")


def _authority(origin: str) -> str | None:
    """The host and port of an origin; None if it has none."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None
