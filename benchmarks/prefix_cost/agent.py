"""Drives sessions through the log as an agent would, with extractive summaries that arrive while the model answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqlalchemy import event

from foldline import migrations
from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Message
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.tokens.counter import count_messages, count_text
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import claims, publish
from foldline.log.storage import paths
from foldline.log.storage.store import Store
from foldline.log.use_cases import append, compact, lifecycle, views
from foldline.replay.transcripts import Transcript

TENANT: Final = "bench"
MODEL: Final = "nobody/nothing"
JsonDict = dict[str, Any]


@dataclass(slots=True)
class Summaries:
    """The tokens that summaries took: what the summarizer read, and what it wrote."""

    read: int = 0
    written: int = 0
    number: int = 0

    def add(self, request: SummaryInput, text: str) -> None:
        """Count one summary."""
        self.read += count_messages(request.said) + sum(map(count_text, request.previous))
        self.written += count_text(text)
        self.number += 1


class Agent:
    """One session in a store."""

    def __init__(
        self,
        store: Store,
        session: Transcript,
        window: int,
        policy: Mapping[str, Any] | None,
        *,
        model: str = MODEL,
        on_summary: Callable[[SummaryInput, str], None] | None = None,
    ) -> None:
        """Create the session; without a policy it never compacts by itself. `on_summary` gets each summary.

        Raises:
            FixedPartsDoNotFit: its system prompt and tools leave no room in this window.
        """
        self._store = store
        self._format = FORMATS[session.format]
        self.summaries = Summaries()
        self._on_summary = on_summary
        new = lifecycle.NewSession(
            model,
            context_window=window,
            system=session.system,
            tools=session.tools,
            policy=policy,
            auto_compact=policy is not None,
        )
        with store.write() as tx:
            path = lifecycle.create(tx, TENANT, new)
        self._name = path.session.id
        self.limit = path.session.budget.limit
        self.fixed_tokens = path.session.fixed_tokens

    def append(self, messages: Sequence[JsonDict]) -> None:
        """Append messages."""
        drafts = append.prepare(self._format.parse(messages))
        with self._store.write() as tx:
            append.append(tx, TENANT, self._name, drafts)

    def view(self) -> list[Message] | None:
        """The messages of the view; None if it cannot fit."""
        try:
            with self._store.read() as tx:
                return views.view(tx, TENANT, self._name, stub_open=True).messages
        except ViewDoesNotFit:
            return None

    def used(self) -> int:
        """The tokens of the view, whether or not it fits."""
        with self._store.read() as tx:
            return paths.open_head(tx, TENANT, self._name).used

    def compact(self, target_tokens: int) -> None:
        """Compact to a target, and write the summaries that this requests."""
        request = SummaryRequest(is_asked=True, target_tokens=target_tokens)
        with self._store.write() as tx:
            compact.compact(tx, TENANT, self._name, request)
        self.write_summaries()

    def write_summaries(self) -> None:
        """Write and publish all summaries that are requested."""
        for queue in (INTERACTIVE, BACKGROUND):
            while (claim := claims.claim(self._store, queue)) is not None:
                text = extractive.summarize(claim.request)
                self.summaries.add(claim.request, text)
                if self._on_summary:
                    self._on_summary(claim.request, text)
                publish.publish(self._store, claim, SummaryDraft(text, degraded=False, summarizer="extractive"))


@contextmanager
def fresh_store() -> Iterator[Store]:
    """An empty SQLite database, which does not wait for the disk and is gone after the block."""
    with TemporaryDirectory(prefix="foldline-bench-") as folder:
        store = Store(f"sqlite:///{Path(folder) / 'log.db'}")
        event.listen(store.engine, "connect", _without_waiting_for_the_disk)
        migrations.upgrade(store.engine)
        try:
            yield store
        finally:
            store.close()


def _without_waiting_for_the_disk(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")
