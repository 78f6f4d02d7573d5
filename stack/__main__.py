"""`python -m stack`: loads the command line; an interrupt waits until it is loaded."""

from __future__ import annotations

import signal
from importlib import import_module


def main() -> None:
    """Block interrupts while the command loads, which takes a second; the command unblocks them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    import_module("stack.command").app()


if __name__ == "__main__":
    main()
