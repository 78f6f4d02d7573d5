"""The routes, one module for each resource. A route translates the request, calls one use case, and translates back."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from foldline_api.routes import (
    branches,
    catalog,
    compactions,
    entries,
    health,
    jobs,
    messages,
    overflow,
    pins,
    session_files,
    sessions,
    stateless,
    stats,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    sessions.router,
    messages.router,
    compactions.router,
    branches.router,
    overflow.router,
    jobs.router,
    stats.router,
    entries.router,
    session_files.router,
    pins.router,
    stateless.router,
    catalog.router,
    health.router,
)
