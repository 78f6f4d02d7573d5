"""The user that servers run as: PostgreSQL refuses to run as root, and no other server needs root."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any, Final

UNPRIVILEGED: Final = "nobody"


def server_user() -> str | None:
    """The user to change to, or None to keep our own user."""
    return UNPRIVILEGED if os.geteuid() == 0 else None


def identity(user: str | None) -> dict[str, Any]:
    """The arguments with which `subprocess` starts a program as this user."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def give(path: Path, user: str | None) -> None:
    """Make `user` the owner of a file or folder."""
    if user is not None:
        shutil.chown(path, user)
