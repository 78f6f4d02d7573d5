"""`make browser`: finds Chromium, or says how to have one, and runs the tests of this folder in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PAGES: Final = ("flower_page.py", "dashboard_page.py")
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Where the tests find it.
CHROMIUM: Final = "CHROMIUM"
DONE: Final = 0
NO_CHROMIUM: Final = 3


def main() -> int:
    """The exit code of the tests, or another where there is nothing to run them in."""
    found = os.environ.get(CHROMIUM) or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and not _install():
        sys.stderr.write(
            "There is no Chromium here, and it could not be installed: nothing was looked at. Install one, as in "
            "apt-get install chromium, or name one with CHROMIUM=/path/to/chromium\n"
        )
        return NO_CHROMIUM
    os.environ[CHROMIUM] = found or ""
    folder = Path(__file__).parent
    return int(pytest.main(["-q", "-p", "no:randomly", *(str(folder / page) for page in PAGES)]))


def _install() -> bool:
    """Whether the browser that belongs to the driver could be installed."""
    sys.stderr.write("No Chromium is installed; trying to install one for the tests\n")
    done = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return done.returncode == DONE


if __name__ == "__main__":
    sys.exit(main())
