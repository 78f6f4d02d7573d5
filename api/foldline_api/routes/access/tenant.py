"""All that the caller's tenant has: export and deletion."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from foldline.log.access.audit import AuditedAction
from foldline.log.erasing.tenants import delete_tenant
from foldline.log.transfer.tenant_export import export_tenant
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import JSON_LINES, json_response
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import DeletedTenant
from foldline_api.schemas.openapi import described

router = APIRouter(tags=["tenant"], route_class=ThreadRoute)


@router.get("/tenant/export", **described(None, stream=JSON_LINES))
def export_all(incoming: FromRequest) -> Response:
    """Export all sessions of the tenant with all that is in them, its keys and its audit trail, as JSON Lines.

    The last line has the `type` `end` and the number of those before it; without it the export is not whole.
    """
    with incoming.service.store.write() as tx:
        incoming.note(tx, AuditedAction.EXPORTED)
    return StreamingResponse(_exported(incoming), media_type=JSON_LINES)


async def _exported(incoming: ApiRequest) -> AsyncIterator[bytes]:
    """The pieces of the export. Each is a request of its own to the threads, of which no tenant takes all."""
    pieces = export_tenant(incoming.service.store, incoming.tenant)
    while piece := await incoming.in_thread(next, pieces, b""):
        yield piece


@router.delete("/tenant", **described(DeletedTenant))
def delete_all(incoming: FromRequest, *, keys: bool = False) -> Response:
    """Delete all sessions of the tenant, and with `keys=true` revoke its stored keys. The audit trail stays."""
    deleted = delete_tenant(incoming.service.store, incoming.tenant, incoming.caller.name, with_keys=keys)
    return json_response({"sessions": deleted.sessions, "keys": deleted.keys})
