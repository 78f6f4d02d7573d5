"""LiteLLM's `trim_messages`, which counts with tiktoken. `LITELLM_LOCAL_MODEL_COST_MAP` keeps it off the network."""

from __future__ import annotations

from collections.abc import Callable

from litellm.utils import trim_messages

from benchmarks.peers.drivers.timing import Job, Work, characters, serve, transcript


def _trim(job: Job) -> Callable[[], Work]:
    messages = transcript(job)
    return lambda: lambda: trim_messages(messages, model="gpt-4o", max_tokens=job["target"])


if __name__ == "__main__":
    serve({"compact": _trim}, characters)
