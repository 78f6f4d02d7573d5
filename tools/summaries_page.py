"""`python -m tools.summaries_page > docs/summaries.md`: the page on summarizers and what they publish."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from foldline.engine.summaries.gate import by_line, whole
from tools.bad_answers import BAD_ANSWERS
from tools.markdown import table

TEXT: Final = Path(__file__).with_suffix(".md")
# What each check of a whole text refuses.
REFUSED: Final = {
    "call": "it calls tools",
    "complete": "it broke off, ended for its length, or was filtered",
    "empty": "it has no letter or digit",
    "readable": "it has many control or replacement characters",
    "markup": "it is HTML, XML, JSON or code",
    "refusal": "it begins by declining, in five languages",
    "echo": "it has sentences of the prompt, or the tags around the conversation",
    "dialogue": "it goes on with the conversation",
    "repetition": "it repeats one line over and over",
    "length": "it takes more tokens than it may",
    "headings": "it has none of the headings",
    "substance": "it says next to nothing of the conversation, or is about something else",
}


def page() -> str:
    """The page: its text, with the tables in their places."""
    names = [name for name, _ in (*whole.CHECKS, *whole.OF_MODELS)]
    refusing = table(("check", "refuses a text because"), ((name, REFUSED[name]) for name in (*names, "substance")))
    patching = table(("check", "leaves out lines"), ((name, reason) for name, reason, _ in by_line.CHECKS))
    endings = table(("what comes", "how it ends"), ((name, ending.value) for name, ending in BAD_ANSWERS.items()))
    tables = {"whole": refusing, "lines": patching, "endings": endings}
    text = TEXT.read_text(encoding="utf-8")
    for name, rows in tables.items():
        text = text.replace(f"<!-- {name} -->\n", rows)
    return text


if __name__ == "__main__":
    sys.stdout.write(page())
