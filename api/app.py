"""Builds the HTTP application of one process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI
from starlette.middleware import Middleware

from api import problems
from api.auth import Auth
from api.metrics import Counting, Metrics
from api.openapi import DescribedApp
from api.routes import ROUTERS
from api.service import Service
from api.watch import WAITERS_MAX, ReadJobs, Watch
from sessions.listing import Job, jobs_by_id
from sessions.settings import Settings
from sessions.store import Store


def create_app(settings: Settings, store: Store, *, waiters_max: int = WAITERS_MAX) -> FastAPI:
    """The application on this store; its tables exist already. Whoever made the store closes it."""
    metrics = Metrics()
    service = Service(settings, store, Watch(_reader_of(store), waiters_max))

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        yield
        await service.watch.close()

    app = DescribedApp(
        title="Foldline",
        version=version("foldline"),
        summary="Keeps long LLM agent sessions inside the model's context window.",
        lifespan=lifespan,
        middleware=[
            Middleware(Counting, metrics=metrics),
            Middleware(Auth, tenants_by_key=settings.tenants_by_key),
        ],
        redirect_slashes=False,
        redoc_url=None,
    )
    app.state.service = service
    app.state.metrics = metrics
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    return app


def _reader_of(store: Store) -> ReadJobs:
    def read_jobs(job_ids: Collection[str]) -> Mapping[str, Job]:
        with store.read() as tx:
            return jobs_by_id(tx, job_ids)

    return read_jobs
