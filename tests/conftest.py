"""What every run shares: no configuration but its own, and the Hypothesis profiles.

Fixtures live in `tests/support` or beside their tests.
"""

import os
import signal

from hypothesis import HealthCheck, settings

from foldline.settings import PREFIX
from tests.support.processes.databases import database, database_kind, module_database, postgresql
from tests.support.thorough import (
    pytest_configure,
    pytest_deselected,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

__all__ = [
    "database",
    "database_kind",
    "module_database",
    "postgresql",
    "pytest_configure",
    "pytest_deselected",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

# Whoever runs the tests may have a service of their own configured; neither settings built here nor processes started
# from here may see that. Settings are read in any case. A test sets what it needs itself.
for name in [name for name in os.environ if name.upper().startswith(PREFIX)]:
    del os.environ[name]

# A run in the background of a shell ignores Ctrl-C, and so would every process started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Both cores are busy when tests run, so the time one example takes says nothing about the code.
_PATIENT = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

# All tests together end within 15 minutes on two cores; `make property` has the numbers that find rare faults.
# The same examples each time: `make property` looks for new ones, and takes its time to shorten what it finds.
settings.register_profile("default", _PATIENT, max_examples=10, stateful_step_count=25, derandomize=True)
settings.register_profile("thorough", _PATIENT, max_examples=500, stateful_step_count=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
