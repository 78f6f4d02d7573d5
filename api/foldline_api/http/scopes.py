"""What each route needs of its caller's key, in one table; a route that is not in it answers nobody."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from foldline.log.access.api_keys import KeyScope
from foldline_api.http.known_keys import Caller
from foldline_api.http.problems import Forbidden

READ, WRITE, ADMIN = KeyScope.READ, KeyScope.WRITE, KeyScope.ADMIN
# The methods of one path, each with its scope.
Needed = Mapping[str, KeyScope]

# What reads, and POST requests that change nothing, need `read`; what changes something, `write`.
SCOPES: Final[Mapping[str, Needed]] = MappingProxyType(
    {
        "/sessions": {"GET": READ, "POST": WRITE},
        "/sessions/{session_id}": {"GET": READ, "PATCH": WRITE, "DELETE": WRITE},
        "/sessions/{session_id}/messages": {"POST": WRITE},
        "/sessions/{session_id}/context": {"GET": READ},
        "/sessions/{session_id}/compact": {"POST": WRITE},
        "/sessions/{session_id}/compactions": {"GET": READ},
        "/sessions/{session_id}/compactions/{compaction_id}": {"GET": READ},
        "/sessions/{session_id}/compactions/{compaction_id}/undo": {"POST": WRITE},
        "/sessions/{session_id}/redo": {"POST": WRITE},
        "/sessions/{session_id}/branch": {"POST": WRITE},
        "/sessions/{session_id}/branches": {"GET": READ},
        "/sessions/{session_id}/overflow": {"POST": WRITE},
        "/sessions/{session_id}/jobs": {"GET": READ},
        "/sessions/{session_id}/stats": {"GET": READ},
        "/sessions/{session_id}/budget": {"POST": READ},
        "/sessions/{session_id}/entries": {"GET": READ},
        "/sessions/{session_id}/entries/{entry_id}": {"GET": READ},
        "/sessions/{session_id}/export": {"GET": ADMIN},
        "/sessions/{session_id}/pins": {"GET": READ, "POST": WRITE},
        "/sessions/{session_id}/pins/{pin_id}": {"DELETE": WRITE},
        "/sessions/{session_id}/ledger": {"GET": READ},
        "/sessions/{session_id}/ledger/{item_id}/dismiss": {"POST": WRITE, "DELETE": WRITE},
        "/sessions/{session_id}/ledger/{item_id}/pin": {"POST": WRITE},
        "/sessions/{session_id}/recall": {"GET": READ},
        "/sessions/{session_id}/recall/tool": {"POST": READ},
        "/jobs/{job_id}": {"GET": READ, "DELETE": WRITE},
        "/jobs/{job_id}/events": {"GET": READ},
        "/import": {"POST": WRITE},
        "/compact": {"POST": READ},
        "/budget": {"POST": READ},
        "/models": {"GET": READ},
        "/presets": {"GET": READ},
        "/audit": {"GET": ADMIN},
        "/tenant": {"DELETE": ADMIN},
        "/tenant/export": {"GET": ADMIN},
        "/keys": {"GET": ADMIN, "POST": ADMIN},
        "/keys/{key_id}": {"DELETE": ADMIN},
    }
)
# Their requests cost money at a provider, and are stored.
OF_GATEWAY: Final = WRITE


def check_scope(scope: Mapping[str, Any]) -> None:
    """Check that the caller of a request may use its route; `scope` is that of ASGI.

    Raises:
        Forbidden: the caller's key lacks the scope.
    """
    require(scope["state"]["caller"], SCOPES[scope["route"].path][scope["method"]])


def require(caller: Caller, needed: KeyScope) -> None:
    """Check that the caller has this scope.

    Raises:
        Forbidden: it has not.
    """
    if needed not in caller.scopes:
        raise Forbidden(needed)
