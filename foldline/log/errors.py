"""The session log's errors, beside the engine's, as one tree: `SessionsError` > `NotFound`, `Conflict`, `StaleVersion`,
`UnknownParent`, `UnknownVersion`, `UnknownEntry`, `CallsOpen`, `PinTooLarge`, `CannotShrink`, `RedoSuperseded`,
`IdempotencyInFlight`, `IdempotencyMismatch`, `LimitExceeded`, `TenantLimitReached`, `InvalidDatabase`, `Unavailable` >
`OutcomeUnknown`, `FileGone`, `DiskFull`, `SealingKeyMissing`, `Busy`; `DamagedValue`.
"""

from __future__ import annotations

from pathlib import Path

from foldline.engine.overflow import Verdict


class SessionsError(Exception):
    """Root of the session log's errors."""


class NotFound(SessionsError):
    """The tenant has no session, entry, job, compaction, pin or item of the ledger of this name."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"there is no {what} {name!r}")
        self.what = what
        self.name = name


class Conflict(SessionsError):
    """The request is valid but not possible in the current state, such as redo without an undo."""


class StaleVersion(SessionsError):
    """`If-Match` names another version than the current one."""

    def __init__(self, given: int, current: int) -> None:
        super().__init__(f"the session is at version {current}, not {given}; read it again and repeat")
        self.current = current


class UnknownParent(SessionsError):
    """`parent` is not the newest message on the path, nor a later entry."""

    def __init__(self, parent: str, newest: str | None) -> None:
        super().__init__(f"{parent!r} is not the newest message on this path ({newest!r}) nor a later entry")
        self.newest = newest


class UnknownVersion(SessionsError):
    """The caller named a version that the session has not reached."""

    def __init__(self, given: int, current: int) -> None:
        super().__init__(f"version: must be one the session has had; it is at {current}, not {given}")
        self.current = current


class UnknownEntry(SessionsError):
    """A request to a session names an entry that the session does not have, or that has no text where one is needed."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"entry_id: there is no {what} {name!r}")
        self.what = what
        self.name = name


class CallsOpen(SessionsError):
    """Tool calls of the last batch still wait for their results."""

    def __init__(self, calls: list[str]) -> None:
        one, many = "1 tool call waits for its result: append it", "{} tool calls wait for their results: append them"
        super().__init__(f"{one if len(calls) == 1 else many.format(len(calls))}, or use open=stub")
        self.calls = calls


class PinTooLarge(SessionsError):
    """All pins together would exceed their share of the budget; both figures are tokens."""

    def __init__(self, tokens: int, limit_tokens: int) -> None:
        super().__init__(f"all pins together would take {tokens} tokens; at most {limit_tokens} are allowed")
        self.tokens = tokens
        self.limit_tokens = limit_tokens


class CannotShrink(SessionsError):
    """No edit would make the refused view smaller; both figures are tokens. `verdict` is what the refusal means."""

    def __init__(self, used_tokens: int, target_tokens: int, verdict: Verdict) -> None:
        super().__init__(
            f"the view takes {used_tokens} tokens, should take {target_tokens}, and cannot be made smaller; "
            "shorten the system prompt, tools, pins or the last message, or use a larger context window"
            if used_tokens
            else "there is nothing in the session that could be made smaller"
        )
        self.used_tokens = used_tokens
        self.target_tokens = target_tokens
        self.verdict = verdict


class RedoSuperseded(SessionsError):
    """An undo cannot be redone because another summary was published since."""

    def __init__(self) -> None:
        super().__init__("another summary was published since that undo, so it can no longer be taken back")


class IdempotencyInFlight(SessionsError):
    """Another request with this `Idempotency-Key` is still running."""

    def __init__(self) -> None:
        super().__init__("a request with this Idempotency-Key is being worked on; repeat it later")


class IdempotencyMismatch(SessionsError):
    """The same `Idempotency-Key` was used with another body."""

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used with another request; use a new key")


class LimitExceeded(SessionsError):
    """A request, or the session with it, has more of something than the service takes; `setting` names the limit."""

    def __init__(self, most: int, setting: str, what: str) -> None:
        super().__init__(f"{what}; the most that this service takes is {most}")
        self.most = most
        self.setting = setting


class TenantLimitReached(SessionsError):
    """A tenant, or one of its keys, has or does as much of something as the service allows.

    `setting` names the limit, `most` is its value. It is worth trying again after `retry_seconds`.
    """

    def __init__(self, most: float, setting: str, what: str, retry_seconds: int = 1) -> None:
        super().__init__(f"{what}; the most that this service allows is {most}")
        self.most = most
        self.setting = setting
        self.retry_seconds = retry_seconds


class InvalidDatabase(SessionsError):
    """The database URL cannot be used. The message does not quote it, because it may contain a password."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the address of the database cannot be used: {problem}. Give one such as sqlite:////var/lib/foldline.db"
        )


class Unavailable(SessionsError):
    """The database does not answer."""


class OutcomeUnknown(Unavailable):
    """The connection broke while a transaction was committed, or it keeps silent: the changes may be there."""


class FileGone(Unavailable):
    """The file of an SQLite database was deleted, or another one put in its place, while it was open."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"the database file {file} was deleted or replaced while it was open")


class DiskFull(Unavailable):
    """The database has no room on its disk."""


class SealingKeyMissing(Unavailable):
    """The database has values that none of the process's keys opens; `name` is that of the key that would."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the database has values that were encrypted with the key {name}")
        self.name = name


class DamagedValue(SessionsError, ValueError):
    """An encrypted value was changed since it was stored: as bad as JSON that cannot be read."""

    def __init__(self) -> None:
        super().__init__("an encrypted value was changed since it was stored")


class Busy(Unavailable):
    """The database answers, but a lock or a connection was not free in time."""
