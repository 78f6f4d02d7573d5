"""`python -m stack`: starts the command line, and lets no interrupt end it in the middle of that."""

from __future__ import annotations

import signal
from importlib import import_module


def main() -> None:
    """What the command needs takes a second to load; an interrupt waits until it can be answered in good order."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    import_module("stack.command").app()


if __name__ == "__main__":
    main()
