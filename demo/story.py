"""The demo's transcript: a coding agent at work on this repository.

The agent's words and calls are written here; the results are those of real tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from demo.workspace import Workspace
from foldline.engine.wire import dumps_text

JsonDict = dict[str, Any]
SYSTEM: Final = (
    "You are a careful coding agent working on the repository in the current folder. Read before you change, "
    "change as little as possible, and run the tests after every change."
)
PIN: Final = "Never change anything under foldline/engine/formats: other teams depend on it."


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of one of the workspace's tools."""

    tool: str
    arguments: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Act:
    """An assistant message: its text, and its calls in parallel."""

    text: str
    calls: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """A user's request, and the agent's messages until it is done."""

    request: str
    acts: tuple[Act, ...]


def read(path: str, **lines: int) -> ToolUse:
    """A read of a file, or of some of its lines."""
    return ToolUse("read_file", {"path": path, **lines})


def search(pattern: str, path: str) -> ToolUse:
    """A search for a pattern below a path."""
    return ToolUse("search", {"pattern": pattern, "path": path})


def edit(path: str, old: str, new: str) -> ToolUse:
    """A replacement of a text that occurs once."""
    return ToolUse("edit_file", {"path": path, "old": old, "new": new})


def run(command: str) -> ToolUse:
    """A command run to its end."""
    return ToolUse("run", {"command": command})


WINDOWS: Final = "foldline/engine/models/windows.py"
TEST_FILE: Final = "test_sizes.py"
TRY_IT: Final = """python -c "from foldline.engine.models.windows import parse_size; print(parse_size('1.5m'))" """
RUN_TESTS: Final = run(f"python -m pytest -q -p no:randomly -p no:cacheprovider {TEST_FILE}")
TEST_TEXT: Final = """import pytest

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.windows import parse_size


@pytest.mark.parametrize(("text", "tokens"), [("128k", 128_000), ("1.5m", 1_500_000), ("0.5k", 500)])
def test_a_size_may_have_decimals(text, tokens):
    assert parse_size(text) == tokens


@pytest.mark.parametrize("text", ["1.", ".5k", "1,5m", "1.5.5k"])
def test_other_ways_of_writing_are_refused(text):
    with pytest.raises(InvalidPolicy):
        parse_size(text)
"""

STORY: Final = (
    StoryTurn(
        "I have just joined. How does a history become a view that fits? Please read the code, not only the README. "
        f"{PIN}",
        (
            Act(
                "I will start with the README and the modules that the name suggests.",
                (read("README.md"), run("ls foldline/engine")),
            ),
            Act(
                "The words are messages, outline, plan, edits and view. I will read them in that order.",
                (read("foldline/engine/messages.py"), read("foldline/engine/outline.py")),
            ),
            Act(
                "Next the plan and its edits.",
                (read("foldline/engine/planning/plan.py"), read("foldline/engine/edits.py")),
            ),
            Act(
                "And the place where the edits meet the messages.",
                (search("def make_", "foldline/engine"), read("foldline/engine/view.py")),
            ),
            Act(
                "The engine never edits messages. It looks at an outline, a few facts per entry; the stages turn it "
                "into a plan, which is edits as data; and a view is the entries seen through the live edits. Nothing "
                "is lost, because a compaction is only a set of edits beside the entries."
            ),
        ),
    ),
    StoryTurn(
        "Thanks. A customer writes their context window as 1.5m. Do we accept that?",
        (
            Act("I will look for the place that reads sizes.", (search("parse_size", "foldline/engine"),)),
            Act(
                "It is in the windows module.",
                (
                    read(WINDOWS),
                    run(TRY_IT),
                ),
            ),
            Act("No: only whole numbers are accepted, so 1.5m is refused with an error that shows the allowed forms."),
        ),
    ),
    StoryTurn(
        "Then make decimals work, with at most three digits after the point. Write the test first.",
        (
            Act("First the test.", (ToolUse("write_file", {"path": TEST_FILE, "content": TEST_TEXT}), RUN_TESTS)),
            Act("It fails as it should. I read the function again before I change it.", (read(WINDOWS),)),
            Act(
                "The pattern has to take a fraction.",
                (edit(WINDOWS, r"(\d{1,12})\s*([kKmM]?)", r"(\d{1,12}(?:\.\d{1,3})?)\s*([kKmM]?)"),),
            ),
            Act("", (RUN_TESTS,)),
            Act("The pattern matches now, but the number is still read as a whole one.", (read(WINDOWS),)),
            Act(
                "I multiply before I round down.",
                (
                    edit(
                        WINDOWS,
                        "int(match[1]) * _UNITS[match[2].lower()]",
                        "int(float(match[1]) * _UNITS[match[2].lower()])",
                    ),
                ),
            ),
            Act("", (RUN_TESTS,)),
            Act("Done: 1.5m is 1,500,000 tokens, and the tests pass. Two lines changed in engine/models/windows.py."),
        ),
    ),
    StoryTurn(
        "Who else depends on sizes? Look at the budget, the policy and the command line.",
        (
            Act(
                "I will search for everything that asks for a window.", (search("window_of|parse_size|budget_of", "."),)
            ),
            Act(
                "Three places, read side by side.",
                (
                    read("foldline/engine/models/budget.py"),
                    read("foldline/engine/policies/policy.py"),
                    read("foldline/cli/commands/models.py"),
                ),
            ),
            Act(
                "The budget takes a window that was read already, the policy knows only shares of the budget, and the "
                "command prints the table. None of them reads a size itself, so the change reaches all of them."
            ),
        ),
    ),
    StoryTurn(
        "One more question, for the documentation: where does the system prompt go in each wire format?",
        (
            Act("I will only read there, as you asked.", (search("system", "foldline/engine/formats"),)),
            Act(
                "The two renderers say it.",
                (read("foldline/engine/formats/openai.py"), read("foldline/engine/formats/anthropic.py")),
            ),
            Act(
                "In OpenAI's format it is the first message, of role system. In Anthropic's it is a field of its own "
                "beside the messages, which hold only user and assistant turns."
            ),
        ),
    ),
    StoryTurn(
        "Good. Check the final state once more before I commit, and suggest a commit message.",
        (
            Act(
                "I read the changed lines and run the tests one last time.",
                (read(WINDOWS, offset=60, limit=40), RUN_TESTS),
            ),
            Act("And nothing else was touched?", (read(WINDOWS), search("match\\[1\\]", "foldline/engine"))),
            Act(
                "Commit message: Accept decimal sizes such as 1.5m. Nothing under foldline/engine/formats was changed."
            ),
        ),
    ),
)

_PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "read_file": ("path", "offset", "limit"),
    "search": ("pattern", "path"),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old", "new"),
    "run": ("command",),
}
_NUMBERS: Final = frozenset({"offset", "limit"})


def tool_definitions() -> list[JsonDict]:
    """The tools as an OpenAI request declares them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": {key: {"type": "integer" if key in _NUMBERS else "string"} for key in keys},
                },
            },
        }
        for name, keys in _PARAMETERS.items()
    ]


def transcript(workspace: Workspace) -> list[JsonDict]:
    """The story as OpenAI messages. Every tool result comes from a real call of the tool."""
    return list(_messages(workspace))


def _messages(workspace: Workspace) -> Iterator[JsonDict]:
    number = 0
    for turn in STORY:
        yield {"role": "user", "content": turn.request}
        for act in turn.acts:
            ids = [f"call_{number + place:02}" for place in range(1, len(act.calls) + 1)]
            number += len(ids)
            yield _assistant(act, ids)
            for call_id, call in zip(ids, act.calls, strict=True):
                yield {"role": "tool", "tool_call_id": call_id, "content": workspace.call(call.tool, call.arguments)}


def _assistant(act: Act, ids: list[str]) -> JsonDict:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": dumps_text(call.arguments)}}
        for call_id, call in zip(ids, act.calls, strict=True)
    ]
    return {"role": "assistant", "content": act.text or None, **({"tool_calls": calls} if calls else {})}
