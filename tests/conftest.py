"""What every run shares: the Hypothesis profiles. Fixtures live in `tests/support` or beside their tests."""

import os

from hypothesis import HealthCheck, settings

# Both cores are busy when tests run, so the time one example takes says nothing about the code.
_PATIENT = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _PATIENT, max_examples=50)
settings.register_profile("thorough", _PATIENT, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
