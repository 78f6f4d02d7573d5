"""What a provider may answer instead of a story, and how each ends: the table of `docs/summaries.md` and its tests."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final


class Ending(Enum):
    """How an answer ends; the value is the text of the page."""

    TRIED_AGAIN = (
        "The call is repeated up to 3 times, after pauses that double, or after `Retry-After`. The next summarizer "
        "then takes over; without one the job fails, with the reason, and is tried again later."
    )
    PASSED_ON = (
        "Another call would fail too. The next summarizer takes over; without one the job fails, with the provider's "
        "words, and is tried again later."
    )
    SHORTER = "What was too long is learned for all calls, and the work goes on in shorter ones."
    JUDGED = (
        "The gate refuses the text. It is asked for once more, with the reason; then the ledger stands alone, "
        "`degraded`."
    )
    PATCHED = "The lines in which something is invented are left out, and the rest is published."


# By what comes, in the order of the page.
BAD_ANSWERS: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "401": Ending.PASSED_ON,
        "402": Ending.PASSED_ON,
        "403": Ending.PASSED_ON,
        "404": Ending.PASSED_ON,
        "408": Ending.TRIED_AGAIN,
        "413": Ending.SHORTER,
        "429 with Retry-After": Ending.TRIED_AGAIN,
        "429 without Retry-After": Ending.TRIED_AGAIN,
        "429, as the quota is used up": Ending.PASSED_ON,
        "500": Ending.TRIED_AGAIN,
        "503": Ending.TRIED_AGAIN,
        "529": Ending.TRIED_AGAIN,
        "the host has no address (DNS)": Ending.TRIED_AGAIN,
        "no encryption (TLS)": Ending.TRIED_AGAIN,
        "nothing comes": Ending.TRIED_AGAIN,
        "nothing more comes in the middle": Ending.TRIED_AGAIN,
        "the stream is cut": Ending.TRIED_AGAIN,
        "an error in the stream": Ending.TRIED_AGAIN,
        "a context that fills up in the stream": Ending.SHORTER,
        "HTML": Ending.TRIED_AGAIN,
        "other JSON than promised": Ending.JUDGED,
        "no choice, candidate or content": Ending.JUDGED,
        "the model declines": Ending.JUDGED,
        "the model declines in its own words": Ending.JUDGED,
        "a content filter": Ending.JUDGED,
        "the answer ends for its length": Ending.JUDGED,
        "a tool call": Ending.JUDGED,
        "an echo of the prompt": Ending.JUDGED,
        "too long a text": Ending.JUDGED,
        "OK": Ending.JUDGED,
        "an order obeyed": Ending.JUDGED,
        "too many tokens of the prompt": Ending.SHORTER,
        "too many tokens asked for": Ending.SHORTER,
        "invented names": Ending.PATCHED,
    }
)
