"""Loads parts of the command when they are needed, and names the package that one of them lacks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

# The extras of packages that the service does without.
EXTRAS: Final = {"mcp": "mcp"}


class MissingPackage(Exception):
    """A package that the command needs is not installed; the message says how to install it."""


def load(module: str) -> Any:
    """The module of this name.

    Raises:
        MissingPackage: it imports a package that is not installed, as those of the service may not be.
    """
    try:
        with _without_collections():
            return import_module(module)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package.startswith("foldline"):
            raise
        what, extra = (
            (f"the extra `{EXTRAS[package]}`", EXTRAS[package]) if package in EXTRAS else ("the service", "service")
        )
        raise MissingPackage(
            f"the package {package} is not installed; install {what}, as in pip install 'foldline[{extra}]'"
        ) from error


@contextmanager
def _without_collections() -> Iterator[None]:
    """A block in which Python looks for no garbage, and after which it never looks at what the block made.

    Modules, classes and functions stay until the end. Looking through them again and again takes a sixth of the time to
    load them, and delays requests later.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
