"""Session files of other systems: import and export."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from foldline.engine.session_files import pi
from foldline.log.access import audit
from foldline.log.access.audit import AuditedAction
from foldline.log.storage.store import Transaction
from foldline.log.transfer.exporting import export_session
from foldline.log.transfer.importing import import_session
from foldline.log.transfer.prepared import prepare
from foldline_api import serializers
from foldline_api.http.bounds.json_bounds import check_values
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JSON_LINES, JsonAnswer, to_response, write_once
from foldline_api.http.route_classes import CostlyRoute
from foldline_api.schemas.answers import ImportedAnswer
from foldline_api.schemas.bodies import ImportBody
from foldline_api.schemas.openapi import described

router = APIRouter(tags=["session files"], route_class=CostlyRoute)


@router.post("/import", **described(ImportedAnswer, HTTPStatus.CREATED, body=ImportBody))
def import_file(incoming: FromRequest) -> Response:
    """Create a session from a session file of pi, with its branches, compactions and branch summaries.

    A file with an error creates nothing. The import does not compact; the next append does, or `POST …/compact`.
    """
    body = incoming.body(ImportBody)
    check_values(body.file.encode(errors="surrogatepass"), incoming.service.settings)
    prepared = prepare(pi.read(body.file))
    given = {name: value for name, value in body if name != "file" and value is not None}

    def work(tx: Transaction) -> JsonAnswer:
        made = import_session(tx, incoming.tenant, given, prepared)
        actor, session_id = incoming.caller.name, made.path.session.id
        audit.record(tx, incoming.tenant, actor, AuditedAction.IMPORTED, session_id=session_id)
        counts = {
            "entries": made.entries,
            "messages": made.messages,
            "branches": made.branches,
            "compactions": made.compactions,
        }
        location = {"Location": f"/sessions/{session_id}"}
        return JsonAnswer({"session": serializers.session_json(made.path), **counts}, HTTPStatus.CREATED, location)

    return to_response(write_once(incoming, work, shares=False))


@router.get("/sessions/{session_id}/export", **described(None, stream=JSON_LINES))
def export_file(session_id: str, incoming: FromRequest) -> Response:
    """Export a session as a session file of pi. Entries that were imported from one are written as they were."""
    with incoming.service.store.read() as tx:
        text = export_session(tx, incoming.tenant, session_id)
    # Apart, so that nobody who writes waits for the text; without this line, it does not leave.
    with incoming.service.store.write() as tx:
        incoming.note(tx, AuditedAction.EXPORTED)
    return Response(text.encode(errors="replace"), media_type=JSON_LINES)
