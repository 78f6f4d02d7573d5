"""Jobs: list, read, cancel, and follow as an event stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from foldline.engine.wire import dumps
from foldline.log.access.audit import AuditedAction
from foldline.log.jobs import endings, queries
from foldline.log.jobs.queries import Job
from foldline_api import serializers
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import json_response, page_response, position_of
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import JobAnswer, Page
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["jobs"], route_class=ThreadRoute)


@router.get("/sessions/{session_id}/jobs", **described(Page[JobAnswer]))
def list_jobs(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List a session's jobs, oldest first."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = queries.jobs(tx, incoming.tenant, session_id, after, limit + 1)
    return page_response(incoming, found, limit, lambda job: job.number, serializers.job_json)


@router.get("/jobs/{job_id}", **described(JobAnswer))
def read_job(job_id: str, incoming: FromRequest) -> Response:
    """Read a job."""
    return json_response(serializers.job_json(_job(incoming, job_id)))


@router.delete("/jobs/{job_id}", **described(JobAnswer))
def cancel_job(job_id: str, incoming: FromRequest) -> Response:
    """Cancel a queued or running job."""
    with incoming.service.store.write() as tx:
        queries.job(tx, incoming.tenant, job_id)
        endings.cancel(tx, incoming.tenant, job_id)
        incoming.note(tx, AuditedAction.CANCELLED_JOB, job_id)
        return json_response(serializers.job_json(queries.job(tx, incoming.tenant, job_id)))


@router.get("/jobs/{job_id}/events", **described(None, stream="text/event-stream"))
async def follow_job(job_id: str, incoming: FromRequest) -> Response:
    """Follow a job as server-sent events named `job`: the job now, after each change and every 15 s, until it ends."""
    incoming.service.watch.check_room(incoming.tenant)
    job = await incoming.in_thread(_job, incoming, job_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(incoming, job), headers=headers, media_type="text/event-stream")


def _job(incoming: ApiRequest, job_id: str) -> Job:
    with incoming.service.store.read() as tx:
        return queries.job(tx, incoming.tenant, job_id)


async def _events(incoming: ApiRequest, job: Job) -> AsyncIterator[bytes]:
    async with aclosing(incoming.service.watch.changes(incoming.tenant, job)) as changes:
        async for latest in changes:
            yield b"event: job\ndata: %s\n\n" % dumps(serializers.job_json(latest))
