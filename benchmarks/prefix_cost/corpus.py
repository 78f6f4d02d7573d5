"""The sessions that are replayed: recorded ones beside the repository, else generated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.transcripts import transcript
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.replay.transcripts import Transcript, read_transcripts

RECORDED: Final = Path(__file__).parents[3] / "shared" / "corpus"
# Files that an agent stored in its own way have the same sessions as others of the folder.
STORED: Final = ".raw"
GENERATED: Final = 6
ENTRIES: Final = 400


def sessions(folder: Path = RECORDED) -> list[Transcript]:
    """All sessions of the folder's files; generated sessions of a coding agent if there is no such folder."""
    files = sorted(file for file in folder.glob("*.jsonl") if STORED not in file.suffixes)
    recorded = [session for file in files for session in read_transcripts(file)]
    return recorded or [Transcript(f"generated-{n}", "openai", transcript(ENTRIES, seed=n)) for n in range(GENERATED)]


def parsed(session: Transcript) -> list[Message]:
    """The messages of a session."""
    return FORMATS[session.format].parse(session.messages)
