#!/usr/bin/env python3
"""`answers PATH`: exits with 0 if the operator's port of the Foldline in this container answers there with success."""

from __future__ import annotations

import os
import sys
from http.client import OK, HTTPConnection, HTTPException
from typing import Final

SECONDS: Final = 4.0


def main() -> int:
    """The exit code. It loads nothing of Foldline, since it runs every few seconds."""
    return 0 if answers(int(os.environ["FOLDLINE_METRICS_PORT"]), sys.argv[1]) else 1


def answers(port: int, path: str) -> bool:
    """Whether the server on a port of this machine answers at a path with success."""
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
