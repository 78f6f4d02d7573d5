"""Session files of other systems: a session from one, and back."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from api import shown
from api.answers import answer, change
from api.bodies import ImportBody
from api.incoming import FromRequest
from api.openapi import described
from api.schemas import ImportedAnswer
from compaction.session_files import pi
from sessions.exporting import export_session
from sessions.idempotency import Answer
from sessions.importing import import_session
from sessions.prepared_files import prepare
from sessions.store import Transaction

router = APIRouter(tags=["session files"])


@router.post("/import", **described(ImportedAnswer, HTTPStatus.CREATED, body=ImportBody))
def import_file(incoming: FromRequest) -> Response:
    """Make a session of a session file of pi, with its branches, compactions and branch summaries, or nothing at all.

    Nothing is compacted by that; the next append does, or a request to.
    """
    body = incoming.body(ImportBody)
    prepared = prepare(pi.read(body.file))
    given = {name: value for name, value in body if name != "file" and value is not None}

    def work(tx: Transaction) -> Answer:
        made = import_session(tx, incoming.tenant, given, prepared)
        counts = {
            "entries": made.entries,
            "messages": made.messages,
            "branches": made.branches,
            "compactions": made.compactions,
        }
        location = {"Location": f"/sessions/{made.path.session.id}"}
        return answer({"session": shown.session(made.path), **counts}, HTTPStatus.CREATED, location)

    return change(incoming, work)


@router.get("/sessions/{session_id}/export", response_class=Response)
def export_file(session_id: str, incoming: FromRequest) -> Response:
    """Write a session as a session file of pi: what came from one as it was, all else as pi has it."""
    with incoming.service.store.read() as tx:
        text = export_session(tx, incoming.tenant, session_id)
    return Response(text.encode(errors="replace"), media_type="application/x-ndjson")
