"""`python -m tests.parity [FOLDER]`: whether the engine agrees with recorded answers of other systems.

One line for each system and operation, and a total. Exit code 1 if an answer differs, or a safe one is not safe; 2 if
the folder has no vectors. Without a folder, the project's own small set is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import track

from tests.parity.operations import OPERATIONS
from tests.parity.vectors import Operations, Vector, agrees, read_vectors

OWN: Final = Path(__file__).parent / "own"
SHOWN: Final = 3


@dataclass(slots=True)
class Tally:
    """How the vectors of one operation came out."""

    system: str
    op: str
    is_built: bool
    clean: int = 0
    agreed: int = 0
    defective: int = 0
    safe: int = 0

    @property
    def is_kept(self) -> bool:
        """Whether nothing differs that may not."""
        return self.agreed == self.clean and self.safe == self.defective

    def __str__(self) -> str:
        if not self.is_built:
            return f"{self.system} {self.op} not answered (of {self.clean + self.defective})"
        safe = f" safe {self.safe}/{self.defective}" if self.defective else ""
        return f"{self.system} {self.op} {self.agreed}/{self.clean}{safe}"


def tallies(vectors: Iterable[Vector], operations: Operations) -> Iterator[tuple[Tally, list[str]]]:
    """For each operation, how its vectors came out and which of them did not as they have to."""
    for (system, op), group in groupby(sorted(vectors, key=_operation_of), key=_operation_of):
        operation = operations.get((system, op))
        tally, failed = Tally(system, op, is_built=operation is not None), []
        for vector in group:
            answer = operation.answer(vector.args) if operation else None
            if vector.is_clean:
                is_right = agrees(vector.expect, answer)
                tally.clean, tally.agreed = tally.clean + 1, tally.agreed + is_right
            else:
                is_right = operation is not None and operation.is_safe(vector.args, answer)
                tally.defective, tally.safe = tally.defective + 1, tally.safe + is_right
            if not is_right:
                failed.append(vector.id)
        yield tally, failed


def _operation_of(vector: Vector) -> tuple[str, str]:
    return vector.system, vector.op


def main(arguments: list[str]) -> int:
    """Print the lines; the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    folder = Path(arguments[0]) if arguments else OWN
    vectors = list(track(read_vectors(folder), "reading", transient=True, console=Console(stderr=True)))
    if not vectors:
        console.print(f"there are no vectors in {folder}: it has to hold *.jsonl files", markup=False)
        return 2
    results = []
    for tally, failed in tallies(vectors, OPERATIONS):
        more = f", and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        differing = f"   differs: {', '.join(failed[:SHOWN])}{more}" if failed and tally.is_built else ""
        console.print(f"{tally}{differing}", markup=False)
        results.append(tally)
    agreed, clean = sum(tally.agreed for tally in results), sum(tally.clean for tally in results)
    safe, defective = sum(tally.safe for tally in results), sum(tally.defective for tally in results)
    console.print(f"total {agreed}/{clean} safe {safe}/{defective}", markup=False)
    return 0 if all(tally.is_kept for tally in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
