"""Conversations to summarize, each with a rule of the user's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.messages import Message, Text, user
from foldline.engine.summaries.prompt import SummaryInput

_WORDS: Final = re.findall(
    r"\w+", "the parser reads every line of a table and keeps its order while callers wait for rows that moved before"
)
_RULE: Final = "Keep the old names as aliases."
# A story gets half of them: enough for one that keeps to the point.
SUMMARY_TOKENS: Final = 140


class Conversation(NamedTuple):
    """What was said in turns, the user's first, and the rule in it."""

    rule: str
    turns: tuple[str, ...]

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join(self.turns)

    @property
    def request(self) -> SummaryInput:
        """The request for a summary of it."""
        return SummaryInput((), tuple(map(_message, range(len(self.turns)), self.turns)), SUMMARY_TOKENS)


def _message(number: int, text: str) -> Message:
    return Message("assistant", (Text(text),)) if number % 2 else user(text)


CONVERSATIONS: Final[Mapping[str, Conversation]] = MappingProxyType(
    {
        "code": Conversation(
            "Never touch the vendor folder.",
            (
                "Rename the parser to reader in src/parse.py. Never touch the vendor folder.",
                "I renamed the parser, and 12 tests pass. The alias comes next.",
                "Good. Then write the notes for release 2.4.",
                "The notes are in docs/notes.md.",
            ),
        ),
        "travel": Conversation(
            "Never book anything without asking me first.",
            (
                "Find a hotel in Lisbon for 3 nights from 14 May. Never book anything without asking me first.",
                "The Hotel Aurora has a room for 96 euros a night, with breakfast.",
                "Is there one by the river?",
                "The Casa Verde is by the river, for 120 euros a night.",
            ),
        ),
        "operations": Conversation(
            "Do not restart db-1.",
            (
                "The queue of worker-7 has 4,200 jobs. Look into it. Do not restart db-1.",
                "worker-7 waits for a lock of migration_0042. I can stop that migration.",
                "Stop it, and raise max_connections to 300.",
                "Done: the queue is down to 17 jobs.",
            ),
        ),
    }
)


def work(modules: range) -> Conversation:
    """A conversation about these modules, with about 90 tokens for each."""
    return Conversation(_RULE, (f"Tidy up, please. {_RULE}", "I begin.", *_steps(modules)))


def _steps(modules: range) -> Iterator[str]:
    random = Random(modules.start)
    for number in modules:
        yield f"Now move module_{number} to src."
        yield f"Moved it: {' '.join(random.choice(_WORDS) for _ in range(60))}."
