"""`python -m benchmarks.attacks.attacker`: callers that send one request again, as soon as it is answered."""

from __future__ import annotations

import argparse
import http.client
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

from foldline.priority import lower_priority

# An attacker waits behind its own requests.
PATIENCE_SECONDS: Final = 120.0
# Attackers have processors of their own; here what theirs does comes after what the service and its victim do.
LOWEST_PRIORITY: Final = 19


def main() -> None:
    """Attack until the process is stopped."""
    options = _options()
    lower_priority(LOWEST_PRIORITY)
    body = Path(options.body).read_bytes()
    callers = [Thread(target=_call, args=(options, body), daemon=True) for _ in range(options.callers)]
    for caller in callers:
        caller.start()
    print("attacking", flush=True)
    for caller in callers:
        caller.join()


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks.attacker", description=__doc__)
    parser.add_argument("url", help="where the requests go")
    parser.add_argument("key", help="the attacker's key")
    parser.add_argument("body", help="a file with the body of each request")
    parser.add_argument("--callers", type=int, default=1, help="how many send it at the same time")
    return parser.parse_args()


def _call(options: Any, body: bytes) -> None:
    parts = urlsplit(options.url)
    headers = {"Authorization": f"Bearer {options.key}", "Content-Type": "application/json"}
    while True:
        connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_SECONDS)
        try:
            while True:
                connection.request("POST", parts.path, body, headers)
                connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()


if __name__ == "__main__":
    main()
