"""The program of `helm test`: creates a session at the given address, appends to it, reads it and deletes it."""

import os
import sys

import httpx

WORDS = "Is anybody there?"


def answer(response: httpx.Response) -> httpx.Response:
    """The response, unless it is an error."""
    response.raise_for_status()
    return response


key = os.environ["FOLDLINE_API_KEYS"].split(",")[0].partition(":")[2].strip()
headers = {"Authorization": f"Bearer {key}"}
with httpx.Client(base_url=sys.argv[1], headers=headers, timeout=30) as api:
    answer(api.get("/readyz"))
    made = answer(api.post("/sessions", json={"model": "none/none", "context_window": 8000})).json()
    session = f"/sessions/{made['id']}"
    answer(api.post(f"{session}/messages", json={"messages": [{"role": "user", "content": WORDS}]}))
    view = answer(api.get(f"{session}/context")).text
    answer(api.delete(session))
    sys.exit(None if WORDS in view else f"{session} does not show what was said")
