"""Reads docker/compose.yaml by the real Compose, which interpolates and merges it as a deployment would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from stack.processes.guarded import REPOSITORY

FILE: Final = REPOSITORY / "docker" / "compose.yaml"
# Of the environment we run in.
PROGRAM: Final = Path(sys.executable).parent / "docker-compose"


class InvalidCompose(Exception):
    """Compose refuses the file or lacks a variable; the message is what it says."""


def services(variables: Mapping[str, str], profiles: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """The services by name, with these variables and no others, in these profiles and none.

    Raises:
        InvalidCompose: the file is not valid, or a variable is missing.
    """
    options = [option for profile in profiles for option in ("--profile", profile)]
    command = [str(PROGRAM), "--file", str(FILE), "--env-file", os.devnull, *options, "config", "--format", "json"]
    done = subprocess.run(command, env=dict(variables), capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvalidCompose(done.stderr.strip())
    # What it writes is for Compose to read, so each `$` is doubled.
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.replace("$$", "$"))["services"]
    return found
