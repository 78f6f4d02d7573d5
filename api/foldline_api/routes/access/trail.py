"""The audit trail of the caller's tenant."""

from __future__ import annotations

from fastapi import APIRouter, Response

from foldline.log.access import audit
from foldline_api import serializers
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import page_response, position_of
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import AuditAnswer, Page
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["keys"], route_class=ThreadRoute)


@router.get("/audit", **described(Page[AuditAnswer]))
def read_audit(incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List who did what to which session, oldest first. Nothing that was said is in it."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = audit.records(tx, incoming.tenant, after, limit + 1)
    return page_response(incoming, found, limit, lambda record: record.number, serializers.audit_json)
