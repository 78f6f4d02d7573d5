"""The client's side of the rows: one request after the other on a connection, as agents send them."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from benchmarks.gateway.provider import END, RECEIVED

HEADERS: Final = {"Content-Type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none"}
PATH: Final = "/v1/messages"


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that was answered: the seconds to the first byte of its answer, and what the provider got of it.

    `session` is the session that it is of, "" if it has none.
    """

    first_byte_seconds: float
    received_bytes: int
    session: str


class Unexpected(Exception):
    """An answer with which the measurement would be one of something else."""

    def __init__(self, answer: object) -> None:
        super().__init__(f"the measurement would be of something else: {answer}")


class Agent:
    """One connection to a proxy."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)

    def send(self, body: bytes) -> Answered:
        """Send a request and read its whole answer.

        Raises:
            Unexpected: it was refused, or broke off.
        """
        start = perf_counter()
        self._connection.request("POST", PATH, body, HEADERS)
        response = self._connection.getresponse()
        answer = response.read1(1)
        taken = perf_counter() - start
        answer += response.read()
        if response.status != http.client.OK or END not in answer:
            raise Unexpected(answer[:500])
        received = int(response.headers[RECEIVED])
        return Answered(taken, received, response.headers.get("X-Foldline-Session", ""))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
