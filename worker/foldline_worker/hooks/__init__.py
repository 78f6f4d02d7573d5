"""Hooks of other packages: who is asked, and calling them within bounds.

`Preparation` and `Outcome` are what hooks are called with.
"""

from __future__ import annotations

from foldline.log.jobs.leases import Preparation
from foldline_worker.hooks.outcomes import Outcome

__all__ = ["Outcome", "Preparation"]
