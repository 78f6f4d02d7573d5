"""Entries: every message as it was appended, also those that are out of view."""

from __future__ import annotations

from fastapi import APIRouter, Response

from foldline.log.use_cases import entries
from foldline_api import serializers
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import json_response, position_of, rest_response
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import EntryAnswer, Page
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["entries"], route_class=ThreadRoute)


@router.get("/sessions/{session_id}/entries", **described(Page[EntryAnswer]))
def list_entries(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the entries of the path in use, oldest first. `tags` name the compaction that put one out of view.

    A page has fewer than `limit` where they are large, and has another one after it then.
    """
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        page = entries.entries(tx, incoming.tenant, session_id, after, limit)
    return rest_response(incoming, page.items, page.next_position, serializers.entry_json)


@router.get("/sessions/{session_id}/entries/{entry_id}", **described(EntryAnswer))
def read_entry(session_id: str, entry_id: str, incoming: FromRequest) -> Response:
    """Read one entry of any branch."""
    with incoming.service.store.read() as tx:
        return json_response(serializers.entry_json(entries.entry(tx, incoming.tenant, session_id, entry_id)))
