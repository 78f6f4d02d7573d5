"""The script of `helm test`, run as its pod would."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from charts.helm import CHART

SCRIPT: Final = (CHART / "files" / "session.py").read_text(encoding="utf-8")


def run(url: str, keys: str) -> subprocess.CompletedProcess[str]:
    """What became of the script, with the API at this address and these keys."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, url],
        env={"FOLDLINE_API_KEYS": keys},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
