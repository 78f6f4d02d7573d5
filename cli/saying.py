"""What a process that runs until it is stopped says of itself: to people, or as a log line where those are JSON."""

from __future__ import annotations

import logging

from cli.consoles import answers
from sessions.settings import Settings

logger = logging.getLogger(__name__)


def say(settings: Settings, text: str) -> None:
    """One line."""
    if settings.log_format == "json":
        logger.info("%s", text)
    else:
        answers().print(text, soft_wrap=True, markup=False)
