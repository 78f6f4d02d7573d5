"""Builds the HTTP application of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.middleware import Middleware
from starlette.routing import Route

from foldline.log.gateway.beginnings import Beginnings
from foldline.log.jobs.queries import Job, jobs_by_id
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.health import DATABASE, Subject, known_backlog, parts_of
from foldline.telemetry.metrics import Signals
from foldline_api import docs_page
from foldline_api.gateway import refusals
from foldline_api.gateway import routes as gateway_routes
from foldline_api.gateway.forwarding import Gateway
from foldline_api.gateway.upstream import Upstreams
from foldline_api.http import problems
from foldline_api.http.access_log import AccessLog
from foldline_api.http.auth import OPEN_PATHS, Auth
from foldline_api.http.bounds.body_memory import BodyMemory
from foldline_api.http.bounds.large_processes import LargeProcesses, OpenService
from foldline_api.http.bounds.patience import Patience
from foldline_api.http.bounds.places import Places
from foldline_api.http.bounds.shared_counts import SharedCounts
from foldline_api.http.bounds.tenant_limits import TenantLimits
from foldline_api.http.browsers import BrowserRules
from foldline_api.http.cursors import Cursors
from foldline_api.http.known_keys import KnownKeys
from foldline_api.job_watch import ReadJobs, Watch
from foldline_api.routes import OF_TURNS, OTHERS, ROUTERS
from foldline_api.schemas.openapi import DescribedApp, operation_id
from foldline_api.sent_views import SentViews
from foldline_api.service import AppState


def create_app(
    settings: Settings,
    store: Store,
    signals: Signals | None = None,
    *,
    open_service: OpenService | None = None,
) -> FastAPI:
    """The application on a store whose tables exist. The caller closes the store.

    `app.state.subject` is the process that health checks describe. `open_service` is what a process for large requests
    begins with; without it there are none.
    """
    signals = signals or Signals()
    signals.metrics.follow(store)
    service = service_on(settings, store)
    keys, counts = KnownKeys.of(settings, store), SharedCounts(settings.broker_url, store.stopwatch)
    gateway = Gateway(service, Upstreams(settings), Beginnings(settings.cache_bytes // 8))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens = settings.threads
        signals.metrics.follow_threads(lambda: threads.statistics().tasks_waiting)
        async with keys.watched():
            if keys.are_needed:
                counts.load()
            yield
        state = app.state
        await asyncio.gather(state.large_processes.close(), state.small_processes.close())
        for opened in (service.watch, gateway.upstreams, counts):
            await opened.close()

    app = DescribedApp(
        title="Foldline",
        version=version("foldline"),
        summary="Keeps long LLM agent sessions inside the model's context window.",
        lifespan=lifespan,
        middleware=[
            Middleware(AccessLog, signals=signals),
            Middleware(Patience, bare_prefixes=(*refusals.PATHS, *OPEN_PATHS)),
            Middleware(BrowserRules, keys=keys, bare_paths=refusals.PATHS),
            Middleware(Auth, keys=keys),
            Middleware(BodyMemory, settings=settings, streaming_prefixes=refusals.PATHS),
            Middleware(TenantLimits, settings=settings, counts=counts, publish=store.publish),
        ],
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    # One is enough for the small requests of tenants beyond their share, and these wait behind no large one.
    app.state.large_processes, app.state.small_processes = (
        LargeProcesses(open_service, min(most, settings.large_request_processes), lambda: keys.are_needed)
        for most in (settings.large_request_processes, 1)
    )
    # Without the broker only summaries wait.
    app.state.subject = Subject(
        signals.metrics, parts_of(settings, store), needed={DATABASE}, backlog=partial(known_backlog, store)
    )
    problems.install(app)
    # A request is held against one route after the other: the gateway's are among the first, as those of each turn are.
    for router in OF_TURNS:
        app.include_router(router)
    gateway_routes.install(app, gateway)
    for router in OTHERS:
        app.include_router(router)
    docs_page.install(app)
    app.add_route("/", _to_docs, include_in_schema=False)
    routes = [*app.routes, *(route for router in ROUTERS for route in router.routes)]
    app.state.routes = [route for route in routes if isinstance(route, Route)]
    return app


def service_on(settings: Settings, store: Store) -> AppState:
    """What the routes share, on a store whose tables exist."""
    watch, views = Watch(_reader_of(store), settings.job_waiters), SentViews(settings.cache_bytes * 3 // 8)
    places = Places(settings)
    return AppState(settings, store, watch, views, Cursors(store), places)


async def _to_docs(_request: Request) -> RedirectResponse:
    """Redirects from the address of the service to the page of its routes."""
    return RedirectResponse(docs_page.PATH)


def _reader_of(store: Store) -> ReadJobs:
    def read_jobs(job_ids: Collection[str]) -> Mapping[str, Job]:
        with store.read() as tx:
            return jobs_by_id(tx, job_ids)

    return read_jobs
