"""A package with hooks, installed in a folder: processes that get the folder by PYTHONPATH find it as any other."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Final

from foldline_worker.hooks.hooks import GROUP

METADATA: Final = "Metadata-Version: 2.1\nName: team-rules\nVersion: 1.0\n"
REASON: Final = "not before the review"
BY_HAND: Final = "# Decided\n- Näme it “fold”, not <fold>."
ADVICE: Final = "Keep every figure."
HANG_SECONDS: Final = 3.0

# A module with hooks. `Guard` decides on a job by the first word of the job's instructions, so that each test has a
# hook of its own. `Scribe` writes the outcomes it gets to a file. `Sloth` hangs on an outcome of the session `slow`.
RULES: Final = f"""
    import json
    import os
    from dataclasses import asdict
    from threading import Event

    def hang(_):
        # Not for ever: a hook of which too many calls hang is not called at all.
        Event().wait({HANG_SECONDS})

    def fail(instructions):
        raise RuntimeError(instructions)

    DEEDS = {{
        "cancel": lambda _: {{"cancel": {REASON!r}}},
        "supply": lambda _: {{"summary": {BY_HAND!r}, "details": {{"ticket": 7}}}},
        "advise": lambda _: {{"instructions": {ADVICE!r}}},
        "babble": lambda _: "yes",
        "hang": hang,
        "fail": fail,
    }}

    class Guard:
        def before_compact(self, preparation):
            instructions = preparation.request.instructions or ""
            deed = DEEDS.get(instructions.partition(":")[0])
            return deed and deed(instructions)

        before_branch = before_compact

    class Scribe:
        def after_compact(self, outcome):
            line = json.dumps({{"pid": os.getpid(), **asdict(outcome)}})
            with open(os.environ["SCRIBE_FILE"], "a") as file:
                file.write(line + "\\n")

        after_branch = after_compact

    class Sloth:
        def after_compact(self, outcome):
            if outcome.session_id == "slow":
                hang(outcome)
"""
HOOKS: Final = {"guard": "Guard", "scribe": "Scribe", "sloth": "Sloth"}


def install(folder: Path, source: str, **hooks: str) -> dict[str, str]:
    """The variables of a process that has the package; `hooks` maps their names to the module's attributes."""
    about = folder / "team_rules-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "team_rules.py").write_text(dedent(source))
    (about / "METADATA").write_text(METADATA)
    points = "".join(f"{name} = team_rules:{attribute}\n" for name, attribute in hooks.items())
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    return {"PYTHONPATH": str(folder)}
