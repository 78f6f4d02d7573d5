"""One word for one idea: the words that others have replaced are in no code, page, setting, metric or message."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.support.processes.program import REPOSITORY

# A retired word, and the one to use.
RETIRED = {
    r"owe[ds]?|owing": "pending",
    r"doorbells?|rings?|ringing|rung|rang": "notify",
    r"tells?|telling|told": "report, reported, event",
    r"gauging|gauged": "estimate",
    r"vitals": "health",
    r"wish|wishes|wished": "request",
}
# Where the words are allowed, because what is written there cannot change or speaks of the words themselves.
EXEMPT = (
    "CHANGELOG.md",
    "docs/decisions/",
    "foldline/migrations/versions/",
    "tests/integration/test_migrations.py",
    "tests/unit/test_words.py",
    # English, as data.
    "foldline/engine/ledger/reading/languages/",
    "foldline/engine/ledger/reading/words/",
    "foldline/engine/ledger/reading/rule_weights.py",
    "foldline/engine/ledger/reading/cues.py",
    "benchmarks/fidelity/",
)
SOURCES = (".py", ".md", ".toml", ".yaml", ".tpl", ".txt", ".json", ".example", "Makefile", "Dockerfile")


def lines() -> Iterator[tuple[str, str]]:
    """Each line of the repository's own text, with its place."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in listed:
        path = REPOSITORY / name
        if name.endswith(SOURCES) and not name.startswith(EXEMPT) and path.is_file():
            yield from (
                (f"{name}:{number}", line) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            )


def words_of(line: str) -> set[str]:
    """The words in a line, identifiers taken apart."""
    # A file's own method, and the one key of stored JSON that keeps its name (docs/decisions/0028).
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", line.replace(".tell()", "").replace('_KEY: Final = "told"', ""))
    return {word.lower() for word in re.findall(r"[A-Za-z]+", apart)}


@cache
def places_by_word() -> Mapping[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for place, line in lines():
        for word in words_of(line):
            places[word].append(place)
    return places


@pytest.mark.parametrize(("retired", "replacement"), RETIRED.items())
def test_a_retired_word_is_used_nowhere(retired: str, replacement: str) -> None:
    pattern = re.compile(retired)
    found = sorted({place for word, places in places_by_word().items() if pattern.fullmatch(word) for place in places})
    assert not found, f"write {replacement!r} instead in {len(found)} lines: {found[:20]}"


def test_a_retired_word_would_be_found() -> None:
    assert words_of("def tellTale(owed_tokens): rung = DOORBELL") >= {"tell", "owed", "rung", "doorbell"}
