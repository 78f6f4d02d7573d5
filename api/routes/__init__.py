"""The routes, one module for each thing they are about; each translates, makes one call, and translates back."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from api.routes import (
    catalog,
    compactions,
    entries,
    files,
    jobs,
    messages,
    overflow,
    pins,
    probes,
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
    files.router,
    pins.router,
    stateless.router,
    catalog.router,
    probes.router,
)
