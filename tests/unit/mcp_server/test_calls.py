"""What a model reads of a compaction, by the answers that a service gives."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.client import Client
from foldline.mcp_server import calls

NOT_COMPACTED = {"compacted": False, "tokens_before": 900, "tokens_after": 900}
COMPACTED = {"compacted": True, "tokens_before": 1900, "tokens_after": 900}
SHORTER = "Compacted: the view has 900 tokens, and had 1,900."
IS_WRITTEN = "A summary is being written by job_1. Go on: the view has it once it is done."


class Answering(Client):
    """A service that gives one answer, and is asked to wait."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__("http://127.0.0.1:1")
        self.answer = answer

    def compact(self, session_id: str, body: dict[str, Any] | None = None, *, wait_seconds: int = 0) -> dict[str, Any]:
        assert (session_id, body, wait_seconds) == ("s", {"instructions": "Names."}, calls.JOB_SECONDS)
        return self.answer


@pytest.mark.parametrize(
    ("result", "job", "reason", "said"),
    [
        (COMPACTED, None, None, SHORTER),
        (COMPACTED, ("succeeded", None), None, SHORTER),
        (COMPACTED, ("running", None), None, f"{SHORTER} {IS_WRITTEN}"),
        (NOT_COMPACTED, ("queued", None), None, IS_WRITTEN),
        (
            NOT_COMPACTED,
            ("failed", "the model is away"),
            None,
            "Nothing was compacted. The summary by job_1 was not made (failed): the model is away.",
        ),
        (NOT_COMPACTED, None, "too_little", "Nothing was compacted: what could go is too little."),
        (NOT_COMPACTED, None, "new_reason", "Nothing was compacted: new_reason."),
        (NOT_COMPACTED, None, None, "Nothing was compacted: there is nothing new since the last compaction."),
    ],
)
def test_an_answer_says_what_a_compaction_did(
    result: dict[str, Any], job: tuple[str, str | None] | None, reason: str | None, said: str
) -> None:
    answer = {
        "result": result,
        "job": job and {"id": "job_1", "state": job[0], "error": job[1]},
        "not_compacted": reason and {"reason": reason, "until": None},
    }
    with Answering(answer) as service:
        assert calls.compact(service, "s", {"instructions": "Names."}) == said
