"""The rows against peers on whole histories: counting their tokens, and one stateless call that makes them fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.harness import ROUNDS, Row, seconds
from benchmarks.peers.process import Peer
from benchmarks.transcripts import transcript
from foldline import compact
from foldline.engine.tokens.counter import count_text

WINDOW: Final = 128_000
# What is left of the window beside 35 % for the answer.
TARGET: Final = 83_200
SIZES: Final = (2_000, 10_000)
# LiteLLM counts all messages again for each that it drops: 400 messages take it a minute.
FEW: Final = 100
FEW_TARGET: Final = 20_000
# For peers of which one run takes seconds.
FEW_ROUNDS: Final = 3
# Of the peers, the bound of the ratio, and the rounds.
_COMPACTING: Final = (
    ("neurolink", "NeuroLink's compactor, estimates", 12.0, ROUNDS),
    ("langchain", "LangChain's trim_messages, approximate counts", 4.0, ROUNDS),
    ("headroom", "headroom's compress, which need not fit", 1.0, FEW_ROUNDS),
)


def rows(folder: Path) -> Iterator[Row]:
    """All rows; the folder takes the histories, which the peers read."""
    yield from _counting(folder)
    for size in SIZES:
        for name, theirs, at_most, rounds in _COMPACTING:
            yield from _compacting(folder, size, TARGET, (name, theirs, at_most, rounds))
    yield from _compacting(folder, FEW, FEW_TARGET, ("litellm", "LiteLLM's trim_messages, tiktoken", 1.0, FEW_ROUNDS))


def _counting(folder: Path) -> Iterator[Row]:
    texts = [message["content"] for message in transcript(SIZES[0])]
    path = folder / "texts.json"
    path.write_text(json.dumps(texts), "utf-8")
    with Peer("tiktoken", "count", {"texts": str(path)}) as peer:
        yield Row(
            name=f"count the tokens of {len(texts):,} texts",
            ours="count_text",
            theirs="tiktoken's encode_ordinary",
            time_ours=lambda: seconds(lambda: [count_text(text) for text in texts]),
            time_theirs=peer.time,
            at_most=0.25,
        )


def _compacting(folder: Path, size: int, target: int, against: tuple[str, str, float, int]) -> Iterator[Row]:
    name, theirs, at_most, rounds = against
    messages = transcript(size)
    job = {"transcript": str(written(folder, messages)), "target": target, "window": WINDOW}

    def run() -> object:
        return compact(messages, context_window=WINDOW, target_tokens=target)

    with Peer(name, "compact", job) as peer:
        yield Row(
            name=f"compact {size:,} messages at once",
            ours="compact, exact counts",
            theirs=theirs,
            time_ours=lambda: seconds(run),
            time_theirs=peer.time,
            at_most=at_most,
            rounds=rounds,
        )


def written(folder: Path, messages: list[dict[str, Any]]) -> Path:
    """The path of a file with these messages."""
    path = folder / f"transcript-{len(messages)}.json"
    if not path.exists():
        path.write_text(json.dumps(messages), "utf-8")
    return path
