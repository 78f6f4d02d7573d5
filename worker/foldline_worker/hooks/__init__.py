"""Hooks of other packages: finding them, calling them with a time-out, and reporting outcomes to them.

`Preparation` and `Outcome` are the objects that hooks are called with.
"""

from __future__ import annotations

from foldline.log.jobs.leases import Preparation
from foldline_worker.hooks.outcomes import Outcome

__all__ = ["Outcome", "Preparation"]
