"""Three million tokens through a model with a small window: `python -m benchmarks.long_input`.

Prints the calls and their sizes, how many there were at once, the time beside that of perfect parallel work, and the
growth of memory. The exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final

from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.bounds import Bounds
from foldline_worker.summarizers.llm import LLM
from foldline_worker.summarizers.model_client import ModelClient
from foldline_worker.summarizers.wires import WIRES
from rich.console import Console
from rich.table import Table

from benchmarks.transcripts import transcript
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.summaries.prompt import SummaryInput, message_tokens
from foldline.engine.tokens.counter import count_text
from tests.support.processes.scripted_llm import SUMMARY, Limits, ScriptedLLM

TOKENS: Final = 3_000_000
WINDOW: Final = 8_192
AT_ONCE: Final = 8
SECONDS_A_CALL: Final = 2.0
MOST_TIME: Final = 1.3
MOST_MEGABYTES: Final = 200


def _conversation() -> tuple[Message, ...]:
    """Messages that take about so many tokens in prompts."""
    part = FORMATS["openai"].parse(transcript(400))
    times = -(-TOKENS // sum(message_tokens(message, "foldline") for message in part))
    said = [FORMATS["openai"].parse(transcript(400, seed)) for seed in range(times)]
    return tuple(message for messages in said for message in messages)


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Measure, and print the table."""
    said = _conversation()
    request = SummaryInput((), said, 16_000)
    slow = replace(SUMMARY, delay_seconds=SECONDS_A_CALL)
    with ScriptedLLM(default=slow, limits=Limits(WINDOW)) as llm:
        client = ModelClient(
            WIRES["openai-chat"], base_url=llm.base_url, api_key=None, model="scripted", timeout_seconds=60
        )
        summarizer = LLM(client, Bounds(100_000, WINDOW), concurrency=AT_ONCE)
        before, started = _megabytes(), perf_counter()
        draft = summarizer.summarize(request, Cancellation())
        seconds, grown = perf_counter() - started, _megabytes() - before
        summarizer.close()
        sizes = [count_text(sent.prompt) + sent.body["max_tokens"] for sent in llm.requests]
        ideal = len(sizes) * SECONDS_A_CALL / AT_ONCE
        bounds: Sequence[tuple[str, str, bool]] = (
            ("tokens of the conversation", f"{sum(message_tokens(message, 'foldline') for message in said):,}", True),
            ("calls", f"{len(sizes):,}", True),
            ("calls refused as too long", str(llm.refused), not llm.refused),
            ("largest prompt with its answer", f"{max(sizes):,} <= {WINDOW:,}", max(sizes) <= WINDOW),
            ("calls at once", f"{llm.most_at_once} <= {AT_ONCE}", llm.most_at_once <= AT_ONCE),
            ("time / (work / N)", f"{seconds / ideal:.2f} <= {MOST_TIME}", seconds <= MOST_TIME * ideal),
            ("memory", f"{grown:.0f} MB <= {MOST_MEGABYTES} MB", grown <= MOST_MEGABYTES),
            ("degraded", str(draft.degraded), not draft.degraded),
        )
    table = Table("what", "measured", "", title=f"{SECONDS_A_CALL:g} s a call, {AT_ONCE} at once")
    for name, figure, is_kept in bounds:
        table.add_row(name, figure, "" if is_kept else "MISSED")
    Console().print(table)
    return int(not all(is_kept for _, _, is_kept in bounds))


if __name__ == "__main__":
    sys.exit(main())
