"""Whether a provider's error says that the request was too long, or that it refuses the reasoning in it."""

from foldline.engine.overflow.verdicts import (
    LONGEST_CHARS,
    NO_OVERFLOW,
    Verdict,
    gap_of,
    is_silent_overflow,
    output_limit_of,
    text_of,
    verdict_of,
    verdict_on,
)
from foldline.engine.overflow.wordings import PROVIDERS

__all__ = [
    "LONGEST_CHARS",
    "NO_OVERFLOW",
    "PROVIDERS",
    "Verdict",
    "gap_of",
    "is_silent_overflow",
    "output_limit_of",
    "text_of",
    "verdict_of",
    "verdict_on",
]
