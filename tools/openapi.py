"""`python -m tools.openapi > docs/openapi.json`: the description of the service, as it is committed."""

from __future__ import annotations

import json
import sys

from foldline_api.app import create_app

from foldline.log.storage.store import Store
from foldline.settings import Settings


def description() -> str:
    """The OpenAPI document of the service as text; what a running service shows at `/openapi.json`."""
    # Defaults alone: what is committed must not depend on the environment it was written in.
    store = Store("sqlite:///unused.db")
    try:
        return json.dumps(create_app(Settings.model_construct(), store).openapi(), indent=2, sort_keys=True) + "\n"
    finally:
        store.close()


if __name__ == "__main__":
    sys.stdout.write(description())
