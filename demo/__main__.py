"""`python -m demo`: sends a coding agent's session through a real service, and prints how it is compacted."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from textwrap import shorten
from time import monotonic, sleep
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from demo.story import PIN, SYSTEM, tool_definitions, transcript
from demo.workspace import scratch_workspace
from foldline.cli.layout import KEPT, Line, layout
from foldline.client import Client
from foldline.engine.formats import FORMATS
from foldline.replay.embedded import embedded_service
from foldline.replay.steps import TranscriptProgress, fixed_tokens, steps_of
from foldline.replay.view_count import outside_tokens, view_tokens
from foldline.terminal import CommandFailed, ExitCode, answers, notes

JsonDict = dict[str, Any]
MODEL: Final = "openai/gpt-4o"
WINDOW: Final = 16_000
FORMAT: Final = "openai"
ACTIVE_STATES: Final = frozenset({"queued", "running"})
POLL_SECONDS: Final = 0.02
# An extractive summary takes milliseconds. The limit is for busy machines.
LONGEST_WAIT_SECONDS: Final = 60.0
STYLES: Final = {KEPT: "dim", "condense": "green", "hide": "yellow", "pin": "cyan"}


class Demo:
    """One session, printed turn by turn."""

    def __init__(self, service: Client, console: Console, messages: list[JsonDict]) -> None:
        self._tools = tool_definitions()
        self._service = service
        self._console = console
        self._messages = messages
        self._progress = TranscriptProgress(FORMAT, fixed_tokens(SYSTEM, self._tools))
        self._known: set[str] = set()
        self._paid = self._paid_without = self._calls = 0
        body = {"model": MODEL, "context_window": WINDOW, "system": SYSTEM, "tools": self._tools}
        session = service.create_session(body)
        self._id: str = session["id"]
        self._limit: int = session["budget"]["limit"]

    def run(self) -> None:
        self._introduce()
        self._service.pin(self._id, PIN)
        for step in steps_of(self._messages, FORMAT):
            if step.before:
                self._append(step.before)
            self._ask_model()
            if step.answer:
                self._append(step.answer)
        self._rewind()
        self._sum_up()

    def _introduce(self) -> None:
        self.say("A coding agent works on this repository", "bold")
        self.say(f"{len(self._messages)} messages, every tool result real")
        self.say(
            f"a window of {WINDOW:,} tokens, {WINDOW - self._limit:,} of them kept for the model's answer: "
            f"a budget of {self._limit:,}"
        )
        self.say("one text pinned:")
        self.say(f"  {PIN}", "cyan")
        self.say()
        self.say("message   what happened", "dim")

    def _append(self, messages: list[JsonDict]) -> None:
        for message in messages:
            if message["role"] == "user":
                self.say(
                    f"{self._progress.messages + 1:7}   user: {shorten(message['content'], 96, placeholder=' …')}",
                    "bold",
                )
        self._service.append(self._id, messages, FORMAT)
        self._progress.add(messages)

    def _ask_model(self) -> None:
        """Fetch the view, as an agent does before it calls its model; summaries are written while the model thinks."""
        view = self._service.context(self._id, FORMAT)
        self._calls += 1
        self._paid += view_tokens(FORMAT, view, self._tools)
        self._paid_without += self._progress.plain_tokens + outside_tokens(SYSTEM, self._tools)
        self._wait_for_jobs()
        self._print_compactions()

    def _wait_for_jobs(self) -> None:
        deadline = monotonic() + LONGEST_WAIT_SECONDS
        while any(job["state"] in ACTIVE_STATES for job in self._service.jobs(self._id)):
            if monotonic() > deadline:
                raise CommandFailed("a summary did not end in a minute", ExitCode.SERVICE_FAILED)
            sleep(POLL_SECONDS)

    def _print_compactions(self) -> None:
        for compaction in self._service.compactions(self._id):
            if compaction["id"] not in self._known:
                self._known.add(compaction["id"])
                stages = " → ".join(compaction["stages_used"])
                before, after = compaction["tokens_before"], compaction["tokens_after"]
                self.say(f"{self._progress.messages:7}   {stages:<28} {before:>6,} → {after:>6,} tokens", "green")

    def _rewind(self) -> None:
        """Undo the last compaction with those it absorbed, redo it, and print the views before and after it."""
        live = [compaction for compaction in self._service.compactions(self._id) if compaction["live"]]
        if not live:
            raise CommandFailed("nothing was compacted", ExitCode.SERVICE_FAILED)
        last = live[-1]
        after = self._view()
        undone = self._service.undo(self._id, last["id"])["undone"]
        before = self._view()
        self._service.redo(self._id)
        again = self._view()
        self._wait_for_jobs()
        compactions, them = ("compaction", "it") if len(undone) == 1 else (f"{len(undone)} compactions", "them")
        self._show(f"The view with the last {compactions} undone", before)
        self._show(f"The view with {them}", after)
        self.say()
        self.say(f"Undo took back the last {compactions}: {_used(before)} tokens.")
        if again != after:
            raise CommandFailed("redo did not bring the view back", ExitCode.SERVICE_FAILED)
        self.say(f"Redo brought the view back, byte for byte: {_used(after)} tokens.")

    def _view(self) -> JsonDict:
        view = self._service.unfitted(self._id, FORMAT)
        return {"messages": view["messages"], "budget": view["budget"]}

    def _show(self, title: str, view: JsonDict) -> None:
        self.say()
        self.say(f"{title}: {_used(view)} of {self._limit:,} tokens", "bold")
        for line in self._lines(view):
            self.say(f"  {line}", STYLES.get(line.fate, "magenta"))

    def _lines(self, view: JsonDict) -> Iterator[Line]:
        wire_format = FORMATS[FORMAT]
        shown = [message for message in wire_format.parse(view["messages"]) if message.role != "system"]
        return iter(layout(wire_format.parse(self._messages), shown))

    def _sum_up(self) -> None:
        saved = 1 - self._paid / self._paid_without
        self.say()
        self.say(f"{self._calls} model calls, {len(self._known)} compactions. Input tokens:", "bold")
        self.say(f"  with Foldline     {self._paid:>9,}")
        self.say(f"  without           {self._paid_without:>9,}")
        self.say(f"{saved:.0%} saved; without Foldline the last calls would not have fitted.")

    def say(self, text: str = "", style: str = "") -> None:
        """Print one line, as it is and never wrapped in the middle of a word."""
        self._console.print(Text(text, style), overflow="ellipsis", no_wrap=True)


def _used(view: JsonDict) -> str:
    return f"{view['budget']['used']:,}"


def main(arguments: Sequence[str] = ()) -> int:
    """Run the demo; the exit code."""
    if arguments:
        notes().print("The demo takes no arguments.")
        return ExitCode.BAD_INPUT
    try:
        with scratch_workspace() as workspace:
            messages = transcript(workspace)
        with embedded_service() as url, Client(url) as service:
            Demo(service, answers(), messages).run()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except CommandFailed as failure:
        notes().print(f"demo: {failure}", markup=False, style="red")
        return failure.code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
