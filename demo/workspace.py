"""The tools of the demo's coding agent. They really work, on a scratch copy of this repository."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from foldline.replay import embedded

REPOSITORY: Final = Path(__file__).resolve().parents[1]
COPIED: Final = ("foldline", "README.md")
IGNORED: Final = shutil.ignore_patterns("__pycache__", "*.pyc", "demo*")
PYTHON: Final = "python"
# Durations and addresses differ from run to run. They are replaced, so that the same sources give the same transcript.
_VARYING: Final = ((re.compile(r"\b\d+\.\d+s\b"), "0.1s"), (re.compile(r"0x[0-9a-f]{6,}"), "0x…"))


class Workspace:
    """A folder with the repository's sources, and the tools that read, search, change and run them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tools: Mapping[str, Callable[..., str]] = {
            "read_file": self._read_file,
            "search": self._search,
            "write_file": self._write_file,
            "edit_file": self._edit_file,
            "run": self._run,
        }

    def call(self, tool: str, arguments: Mapping[str, str | int]) -> str:
        """The result of a tool as text; an operating system's error is a result too."""
        try:
            return self._tools[tool](**arguments)
        except OSError as error:
            return f"Error: {error.strerror}"

    def _read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        lines = (self._folder / path).read_text(encoding="utf-8").splitlines()
        first = offset - 1
        chosen = lines[first : None if limit is None else first + limit]
        return "\n".join(f"{number:4}  {line}" for number, line in enumerate(chosen, offset))

    def _search(self, pattern: str, path: str) -> str:
        _, found = embedded.output_of(["grep", "-rnE", "--include=*.py", pattern, path], self._folder)
        # The order of files in a folder depends on the file system.
        return "\n".join(sorted(found.splitlines())) or "no match"

    def _write_file(self, path: str, content: str) -> str:
        (self._folder / path).write_text(content, encoding="utf-8")
        return f"wrote {len(content.splitlines())} lines to {path}"

    def _edit_file(self, path: str, old: str, new: str) -> str:
        text = (self._folder / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            return f"Error: the text to replace occurs {text.count(old)} times in {path}"
        (self._folder / path).write_text(text.replace(old, new), encoding="utf-8")
        return f"replaced 1 occurrence in {path}"

    def _run(self, command: str) -> str:
        words = [sys.executable if word == PYTHON else word for word in shlex.split(command)]
        code, printed = embedded.output_of(words, self._folder)
        for pattern, same in _VARYING:
            printed = pattern.sub(same, printed)
        return f"{printed.replace(str(self._folder), '.')}\nexit code {code}".lstrip()


@contextmanager
def scratch_workspace() -> Iterator[Workspace]:
    """A workspace on a copy of this repository, which is removed after the block."""
    with TemporaryDirectory(prefix="foldline-demo-") as name:
        folder = Path(name).resolve()
        for source in COPIED:
            _copy(REPOSITORY / source, folder / source)
        yield Workspace(folder)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=IGNORED)
    elif source.exists():
        shutil.copy(source, target)
