"""The conversation of a driver: a job on the first line, then a line for each run; it answers with seconds and size."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

Wire: TypeAlias = dict[str, Any]
Job: TypeAlias = dict[str, Any]
Work: TypeAlias = Callable[[], Any]


def serve(jobs: dict[str, Callable[[Job], Callable[[], Work]]], size: Callable[[Any], int]) -> None:
    """Answer until the input ends.

    The job names a function of `jobs`. It prepares all runs and returns a function that prepares a single one and
    returns its work. Only the work is timed. `size` of what it returns shows that something was done.
    """
    # What a peer prints goes to the standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline())
    prepare = jobs[job["task"]](job)
    print("ready", file=answers, flush=True)
    for _ in sys.stdin:
        work = prepare()
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "size": size(result)}), file=answers, flush=True)


def transcript(job: Job) -> list[Wire]:
    """The messages of a job, OpenAI's."""
    messages: list[Wire] = json.loads(Path(job["transcript"]).read_bytes())
    return messages


def characters(messages: list[Wire]) -> int:
    """The characters of the texts and calls of OpenAI's messages."""
    return sum(len(message["content"] or "") + len(str(message.get("tool_calls", ""))) for message in messages)


def until_each_call(messages: list[Any], is_answer: Callable[[Any], bool]) -> Iterator[list[Any]]:
    """The messages in groups: each ends where the model is called, so an answer begins the next one."""
    group: list[Any] = []
    for message in messages:
        if group and is_answer(message):
            yield group
            group = []
        group.append(message)
    yield group
