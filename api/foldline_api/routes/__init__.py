"""The routes, one module for each resource. A route translates the request, calls one use case, and translates back."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from foldline_api.routes import (
    branches,
    compactions,
    entries,
    jobs,
    messages,
    overflow,
    pins,
    session_files,
    sessions,
    stateless,
    stats,
    views,
)
from foldline_api.routes.access import keys, tenant, trail
from foldline_api.routes.finding import ledger, recall
from foldline_api.routes.service import catalog, health

# Those of each turn, and the others.
OF_TURNS: Final[tuple[APIRouter, ...]] = (sessions.router, messages.router, views.router)
OTHERS: Final[tuple[APIRouter, ...]] = (
    compactions.router,
    branches.router,
    overflow.router,
    jobs.router,
    stats.router,
    entries.router,
    session_files.router,
    pins.router,
    ledger.router,
    recall.router,
    keys.router,
    trail.router,
    tenant.router,
    stateless.router,
    catalog.router,
    health.router,
)
ROUTERS: Final = (*OF_TURNS, *OTHERS)
