"""What a model reads when a call fails."""

from __future__ import annotations

import pytest

from foldline.client import Refused
from foldline.mcp_server import failures
from foldline.terminal import CommandFailed, ExitCode

FAULT = {"type": "about:blank", "title": "Internal Server Error"}
AGAIN = "Call again in a few seconds."


def problem(name: str, detail: str) -> dict[str, str]:
    return {"type": f"/problems/{name}", "detail": detail}


@pytest.mark.parametrize(
    ("failure", "said", "next_step"),
    [
        (CommandFailed("is it running?", ExitCode.SERVICE_FAILED), "Is it running?", f"{failures.AWAY}."),
        (CommandFailed("give --api-key"), "Give --api-key.", ""),
        (Refused(500, FAULT), "The service failed: 500 about:blank: Internal Server Error.", f"{failures.FAULTY}."),
        (Refused(503, problem("unavailable", "the database is away")), "The database is away.", AGAIN),
        (Refused(409, problem("conflict", "it is undone already")), "It is undone already.", ""),
        (Refused(200, {}), "The service answered with status 200, and nothing that is known.", f"{failures.NOT_OURS}."),
    ],
)
def test_a_failure_is_said_in_sentences_with_the_next_step(
    failure: Refused | CommandFailed, said: str, next_step: str
) -> None:
    assert failures.sentence_of(failure) == f"{said} {next_step}".strip()
