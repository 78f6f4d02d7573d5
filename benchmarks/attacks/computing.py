"""`python -m benchmarks.attacks.computing`: a program that computes at the lowest priority until it is stopped."""

from __future__ import annotations

from benchmarks.attacks.attacker import LOWEST_PRIORITY
from foldline.priority import lower_priority


def main() -> None:
    """Compute."""
    lower_priority(LOWEST_PRIORITY)
    print("computing", flush=True)
    while True:
        sum(range(10_000))


if __name__ == "__main__":
    main()
