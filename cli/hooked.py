"""The hooks that are installed, for the processes that ask or tell them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cli.failures import CommandFailed
from cli.saying import say
from sessions.settings import Settings
from sessions.store import Store
from worker.hooks import Hooks, InvalidHook, load_hooks, telling


@contextmanager
def hooked(settings: Settings, store: Store) -> Iterator[Hooks]:
    """The hooks, which are told in the block what comes of compactions.

    Raises:
        CommandFailed: one that is installed cannot be used.
    """
    try:
        hooks = load_hooks(settings.hook_timeout_seconds, fails_closed=settings.hooks_fail == "closed")
    except InvalidHook as error:
        raise CommandFailed(f"{error}. Mend or uninstall the package that it is from") from error
    if not hooks.is_empty:
        say(settings, f"hooks: {', '.join(hooks.names)}")
    with telling(hooks, store, settings.stop_seconds):
        yield hooks
