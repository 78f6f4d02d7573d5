"""Fresh virtual environments with wheels installed, without a network; what the wheels depend on is lent to them."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

from tests.support.processes.program import REPOSITORY

OURS = "foldline"
# The tokenizer names it, and never imports it.
NEVER_INSTALLED = "numpy"


def build_wheel(folder: Path) -> Path:
    """The wheel of this repository, built into `folder`."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("foldline-*.whl")
    return wheel


def write_wheel(folder: Path, package: str) -> Path:
    """A wheel of somebody else's, with one top-level package of this name."""
    metadata = f"other_{package}-1.0.dist-info"
    files = {
        f"{package}/__init__.py": f'"""Somebody else\'s."""\n\nNAME = "{package}"\n',
        f"{package}/app.py": "ANSWER = 42\n",
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: other-{package}\nVersion: 1.0\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{metadata}/RECORD"
    files[record] = "".join(f"{name},,\n" for name in [*files, record])
    path = folder / f"other_{package}-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment of its own."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> Environment:
        _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
        return cls(folder)

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def program(self) -> Path:
        """The command `foldline`."""
        return self.folder / "bin" / "foldline"

    @property
    def packages(self) -> Path:
        """Where wheels are installed."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def install(self, *wheels: Path) -> None:
        self._pip("install", "--no-index", "--no-deps", "--no-compile", *map(str, wheels))

    def uninstall(self, name: str) -> None:
        self._pip("uninstall", "--yes", name)

    def lend(self, *requirements: str) -> None:
        """Make these requirements importable, from the packages that run the tests, but not Foldline."""
        lent = self.folder / "lent"
        lent.mkdir()
        for source in _top_level(found for found in _closure(requirements) if found.name != OURS):
            (lent / source.name).symlink_to(source)
        (self.packages / "lent.pth").write_text(f"{lent}\n", encoding="utf-8")

    def run(self, program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(program), *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )

    def files(self) -> Mapping[str, bytes]:
        """The installed files by their place, without bytecode and without what was lent."""
        found = (path for path in self.packages.rglob("*") if path.is_file() and path.suffix not in {".pyc", ".pth"})
        return {path.relative_to(self.packages).as_posix(): path.read_bytes() for path in found}

    def _pip(self, *arguments: str) -> None:
        pip = (sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check")
        _run(*pip, *arguments)


def _closure(requirements: Iterable[str]) -> Iterator[Distribution]:
    """The distributions that requirements name, and those that they require in turn; a distribution may come twice."""
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        key = (requirement.name, frozenset(requirement.extras))
        if key in seen or requirement.name == NEVER_INSTALLED:
            continue
        seen.add(key)
        found = distribution(requirement.name)
        yield found
        needed = map(Requirement, found.requires or ())
        waiting += [each for each in needed if _applies(each, requirement.extras)]


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    """Whether it is required on this machine, by the distribution itself or by one of these extras of it."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _top_level(distributions: Iterable[Distribution]) -> set[Path]:
    """The files and folders of distributions that stand in the folder of installed packages."""
    site = Path(sysconfig.get_path("purelib"))
    names = {path.parts[0] for found in distributions for path in found.files or () if path.parts[0] != ".."}
    return {site / name for name in names if name != "__pycache__"}


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
