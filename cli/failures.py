"""How a command ends other than well: an exit code, and one sentence that says what to do next."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell gets."""

    DONE = 0
    FOUND_WANTING = 1  # the work was done and its answer is bad news: violations, a request too slow
    BAD_INPUT = 2  # an option or a file is wrong; nothing was done
    SERVICE_FAILED = 3  # a service did not start, did not answer, or refused what it should take
    INTERRUPTED = 130  # Ctrl-C, as shells have it


class CommandFailed(Exception):
    """The command cannot go on; the message is for the user and names the next step."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code
