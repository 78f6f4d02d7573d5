"""Logging of a process that runs until it is stopped."""

from __future__ import annotations

import logging
from typing import Any, Final

from celery.signals import setup_logging

from sessions.settings import Settings

OUR_LOGGERS: Final = ("api", "cli", "sessions", "uvicorn", "worker")


def set_up_logging(settings: Settings) -> None:
    """Our own lines from the level asked for; of the libraries only what is wrong."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(settings.log_level.upper())
    # Celery sets up logging of its own, unless someone says that it is done.
    setup_logging.connect(_is_set_up)


def _is_set_up(**_: Any) -> None:
    """Nothing is left to do."""
