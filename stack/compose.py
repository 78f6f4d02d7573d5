"""Reads docker/compose.yaml with the real Compose, which interpolates and merges it as in a deployment."""

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
# The program of our own Python environment.
PROGRAM: Final = Path(sys.executable).parent / "docker-compose"


class InvalidCompose(Exception):
    """Compose refuses the file or lacks a variable; the message is Compose's own."""


def services(variables: Mapping[str, str], profiles: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """The services by name, with only these variables, in these profiles and in no profile.

    Raises:
        InvalidCompose: the file is not valid, or a variable is missing.
    """
    options = [option for profile in profiles for option in ("--profile", profile)]
    command = [str(PROGRAM), "--file", str(FILE), "--env-file", os.devnull, *options, "config", "--format", "json"]
    done = subprocess.run(command, env=dict(variables), capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvalidCompose(done.stderr.strip())
    # Its output is meant for Compose again, so each `$` is doubled.
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.replace("$$", "$"))["services"]
    return found
