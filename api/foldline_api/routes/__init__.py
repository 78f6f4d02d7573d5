"""The routes, one module for each thing they are about; each translates, makes one call, and translates back."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from foldline_api.routes import (
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
