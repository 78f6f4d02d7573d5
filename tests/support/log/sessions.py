"""Sessions on a real database, driven tersely: every size is in tokens, time is moved by hand, ids count up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import event, select

from foldline.engine.edits import LiveEdits
from foldline.engine.facts import is_empty
from foldline.engine.formats import FORMATS
from foldline.engine.outline import Outline, Summarized
from foldline.engine.planning.image_limits import images_shown
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.tokens.counter import count_messages
from foldline.engine.wording import stub_tokens
from foldline.log.compaction import trigger
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.compaction.usage import Usage
from foldline.log.jobs import claims, publish
from foldline.log.jobs.leases import Claim
from foldline.log.sealing.cipher import Cipher
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.known_entries import KnownEntries
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Limits, Store, Transaction
from foldline.log.storage.tables import BRANCH, ENTRY, JOB
from foldline.log.use_cases import append, branches, history, lifecycle, pins, preconditions, undo, views
from foldline.log.use_cases.append import Appended
from foldline.log.use_cases.branches import Moved
from foldline.log.use_cases.history import Record

Wire = dict[str, Any]

TENANT = "acme"
QUEUES = (INTERACTIVE, BACKGROUND)
# Room for what is going on is all a test says; the answer's share is the same everywhere.
RESERVE_TOKENS = 100


class Clock:
    """The time, which stands still until it is advanced."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Ids:
    """Ids that count up."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"


@contextmanager
def open_store(
    url: str,
    *,
    limits: Limits | None = None,
    clock: Clock | None = None,
    cipher: Cipher | None = None,
    known: KnownEntries | None = None,
) -> Iterator[Store]:
    """A store on a database that has its tables."""
    store = Store(
        url,
        limits=limits or Limits(),
        clock=clock or Clock(),
        new_id=Ids(),
        chance=float,
        cipher=cipher,
        known=known,
    )
    if store.is_sqlite:
        event.listen(store.engine, "connect", _without_waiting_for_the_disk)
    try:
        yield store
    finally:
        store.close()


def _without_waiting_for_the_disk(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def words(tokens: int, word: str = " fold") -> str:
    """Text of so many tokens; `word` must be one token however often it is repeated."""
    return word * tokens


def user(tokens: int, word: str = " fold") -> Wire:
    """A user message whose text takes so many tokens; framing adds 4."""
    return {"role": "user", "content": words(tokens, word)}


def assistant(tokens: int) -> Wire:
    """An assistant message without calls."""
    return {"role": "assistant", "content": words(tokens)}


def calls(*call_ids: str, arguments: str = "{}", name: str = "run") -> Wire:
    """An assistant message with these calls and no text."""
    listed = [{"id": call, "type": "function", "function": {"name": name, "arguments": arguments}} for call in call_ids]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def result(call_id: str, tokens: int) -> Wire:
    """The result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": words(tokens)}


def batch(call_id: str, tokens: int) -> list[Wire]:
    """A call and its result."""
    return [calls(call_id), result(call_id, tokens)]


def touching(call_id: str, name: str, path: str) -> list[Wire]:
    """A call of a tool on a file, and its result."""
    return [calls(call_id, name=name, arguments=f'{{"path": "{path}"}}'), result(call_id, 20)]


def turns(number: int, tokens: int) -> list[Wire]:
    """So many turns of a user message and an answer, each message of so many tokens."""
    return [user(tokens), assistant(tokens)] * number


def span(claim: Claim) -> tuple[int, int]:
    """The seqs of the first and last entry of what is to be summarized."""
    return claim.wanted.covered.first, claim.wanted.covered.last


def roles(claim: Claim) -> list[str]:
    """Who said the messages that a summarizer gets."""
    return [message.role for message in claim.request.messages]


@dataclass(slots=True)
class Scene:
    """One session and what may happen to it. `limit` is its budget: the model is counted exactly, so no margin."""

    store: Store
    limit: int = 1_000
    id: str = "s"
    tenant: str = TENANT
    system: str | None = None
    policy: Wire | None = None

    def __post_init__(self) -> None:
        with self.store.write() as tx:
            lifecycle.create(tx, self.tenant, lifecycle.NewSession(
                "openai/gpt-4o", self.id, self.limit + RESERVE_TOKENS, RESERVE_TOKENS, system=self.system,
                policy=self.policy,
            ))  # fmt: skip

    # What a client does.

    def append(
        self, *messages: Wire, format_name: str = "openai", parent: str | None = None, usage: Usage | None = None
    ) -> Appended:
        drafts = append.prepare(FORMATS[format_name].parse(list(messages)))
        with self.store.write() as tx:
            return append.append(tx, self.tenant, self.id, drafts, parent=parent, usage=usage)

    def compact(
        self, *, instructions: str | None = None, target_tokens: int | None = None, summarize: bool | None = None,
        stages: list[str] | None = None,
    ) -> TriggerResult:  # fmt: skip
        """Compact with the goals of a full view, whatever its size, so that it is easy to foresee what stays."""
        request = SummaryRequest(is_asked=True, instructions=instructions, target_tokens=target_tokens)
        with self.store.write() as tx:
            path = preconditions.open_to_change(tx, self.tenant, self.id, parent=None, if_match=None)
            leaf_seq = path.leaf_seq
            step = trigger.compact_now(tx, path, request, stages=stages, summarize=summarize)
            paths.save_edited(tx, path, leaf_seq)
            return step

    def undo(self, compaction_id: str) -> list[str]:
        with self.store.write() as tx:
            return undo.undo(tx, self.tenant, self.id, compaction_id)[0]

    def redo(self) -> list[str]:
        with self.store.write() as tx:
            return undo.redo(tx, self.tenant, self.id)[0]

    def move(self, entry_id: str) -> TriggerResult:
        with self.store.write() as tx:
            return branches.move(tx, self.tenant, self.id, entry_id).step

    def leave(self, entry_id: str, instructions: str | None = None) -> Moved:
        """Move the head, and request a summary of the entries it leaves."""
        with self.store.write() as tx:
            return branches.move(
                tx, self.tenant, self.id, entry_id, request=SummaryRequest(is_asked=True, instructions=instructions)
            )

    def pin(self, tokens: int) -> TriggerResult:
        with self.store.write() as tx:
            return pins.add(tx, self.tenant, self.id, text=words(tokens))[2]

    def resize(self, limit: int) -> TriggerResult:
        with self.store.write() as tx:
            changes = {"context_window": limit + RESERVE_TOKENS}
            return lifecycle.change(tx, self.tenant, self.id, changes)[1]

    # What a worker does.

    def window(self, tokens: int) -> None:
        """From now on a summarizer takes so many tokens of originals at a time."""
        self.store.limits = replace(self.store.limits, summarizer_tokens=tokens, summarizer_calls=1)

    def claim(self) -> Claim | None:
        return next((claim for queue in QUEUES if (claim := claims.claim(self.store, queue)) is not None), None)

    def claimed(self) -> Claim:
        claim = self.claim()
        assert claim is not None, "there is nothing to claim"
        return claim

    def publish(self, claim: Claim, tokens: int = 40, word: str = " gist") -> str:
        """Publish a summary of so many tokens, or of as many as its range allows; the job's state."""
        text = words(min(tokens, claim.request.max_tokens), word)
        return publish.publish(self.store, claim, SummaryDraft(text, degraded=False, summarizer="scripted"))

    def work(self, tokens: int = 40) -> list[str]:
        """Do all the jobs there are; the states they ended in."""
        states: list[str] = []
        while (claim := self.claim()) is not None:
            states.append(self.publish(claim, tokens))
            assert len(states) < 100, "summaries never end"
        return states

    # What is to be seen.

    @property
    def entries(self) -> list[str]:
        """The ids of all entries on the path, oldest first."""
        return [segments.entry_id(branch, seq) for branch, seq in parent_walk(self, self.path.branch)]

    @property
    def path(self) -> Path:
        with self.store.read() as tx:
            return paths.open_head(tx, self.tenant, self.id)

    @property
    def outline(self) -> Outline:
        with self.store.read() as tx:
            return entry_log.outline(tx, paths.open_head(tx, self.tenant, self.id))

    @property
    def used(self) -> int:
        return self.path.used

    @property
    def pending(self) -> int:
        return self.path.pending_tokens

    @property
    def interim_tokens(self) -> int:
        """The tokens of the interim summaries and markers in view."""
        return sum(run.interim.tokens for run in self.outline.runs if run.interim)

    @property
    def layout(self) -> list[str]:
        """The view as text: `user 1`, `batch 2-3 (clear 3)`, `summary 1-4`, `hidden 5-8`."""
        lines: list[str] = []
        outline = self.outline
        for item in outline.items:
            span = str(item.first) if item.first == item.last else f"{item.first}-{item.last}"
            if isinstance(item, Summarized):
                lines.append(f"summary {span}")
            elif item.is_hidden and lines and lines[-1].startswith("hidden"):
                lines[-1] = f"{lines[-1].split('-')[0]}-{item.last}"
            elif item.is_hidden:
                lines.append(f"hidden {span}")
            else:
                cells = [outline.live.cells.get(entry.seq) for entry in item.entries]
                edited = "".join(f" ({cell.kind} {cell.first})" for cell in cells if cell is not None)
                lines.append(f"{item.kind} {span}{edited}")
        return lines

    @property
    def live(self) -> list[str]:
        """The ids of the live compactions, oldest first."""
        with self.store.read() as tx:
            listed = history.compactions(tx, self.tenant, self.id)
        return [compaction.id for compaction in listed if compaction.is_live]

    @property
    def records(self) -> list[Record]:
        with self.store.read() as tx:
            path = paths.open_head(tx, self.tenant, self.id)
            return history.records(tx, path.session, segments.segments(tx, path), entry_log.EDITING)

    @property
    def jobs(self) -> list[Any]:
        """The session's job rows, oldest first."""
        statement = select(JOB).where(JOB.c.session_pk == self.path.session.pk).order_by(JOB.c.number)
        with self.store.read() as tx:
            return list(tx.execute(statement))

    @property
    def states(self) -> list[str]:
        """The states of the session's jobs, oldest first; a failed one with its error."""
        return [f"{job.state}: {job.error}" if job.state == "failed" else job.state for job in self.jobs]

    def wire(self, format_name: str = "openai", *, must_fit: bool = True) -> list[Wire]:
        """The view at the head, rendered."""
        with self.store.read() as tx:
            view = views.view(tx, self.tenant, self.id, must_fit=must_fit, stub_open=True)
        return FORMATS[format_name].render(view.messages, view.path.session.system).messages


def assert_consistent(scene: Scene) -> None:
    """On every branch: kept totals equal a recount, what is pending is what is hidden, segments equal a parent walk."""
    with scene.store.read() as tx:
        session = paths.open_head(tx, scene.tenant, scene.id).session
        numbers = list(tx.execute(select(BRANCH.c.branch).where(BRANCH.c.session_pk == session.pk)).scalars())
        for path in [paths.branch_path(tx, session, number) for number in numbers]:
            outline = entry_log.outline(tx, path)
            assert (path.kept, path.pending_tokens) == (outline.tokens, outline.pending_tokens)
            assert path.estimated is None or path.estimated == _counted(tx, path, outline)
            assert path.images is None or path.images == images_shown(outline, path.session.image_limits)
            assert path.raw == entry_log.outline(tx, path, LiveEdits()).tokens
            parts = segments.segments(tx, path)
            listed = [(part.branch, seq) for part in parts for seq in range(part.first, part.last + 1)]
            assert listed == parent_walk(scene, path.branch)
    _assert_view_counts_right(scene)


def _counted(tx: Transaction, path: Path, outline: Outline) -> int:
    """What the history takes by the policy's counter, or, up to where a provider reported that, by its report."""
    policy, measure = path.session.policy, path.aims().gauge.measure
    tokens = outline.measured(measure).tokens
    if path.reported is None or not policy.trusts_usage:
        return tokens
    reported_on = entry_log.outline(tx, replace(path, leaf_seq=path.reported_seq), outline.live)
    fixed_tokens = path.session.fixed().estimated(policy.counter, path.session.frame.provider)
    return max(0, path.reported - fixed_tokens) + tokens - reported_on.measured(measure).tokens


def _assert_view_counts_right(scene: Scene) -> None:
    with scene.store.read() as tx:
        view = views.view(tx, scene.tenant, scene.id, must_fit=False)
    pinned_and_history = view.path.kept + view.path.session.pins_tokens + stub_tokens() * len(view.open_calls)
    assert count_messages(message for message in view.messages if not is_empty(message)) == pinned_and_history


def parent_walk(scene: Scene, branch: int) -> list[tuple[int, int]]:
    """The (branch, seq) of every entry of a path, found by going from each to the one before it."""
    statement = select(BRANCH.c.branch, BRANCH.c.parent, BRANCH.c.left_seq, BRANCH.c.leaf_seq)
    with scene.store.read() as tx:
        session_pk = paths.open_head(tx, scene.tenant, scene.id).session.pk
        rows = {row.branch: row for row in tx.execute(statement.where(BRANCH.c.session_pk == session_pk))}
        found = select(ENTRY.c.branch, ENTRY.c.seq).where(ENTRY.c.session_pk == session_pk)
        entries = {(number, seq) for number, seq in tx.execute(found)}
    walk: list[tuple[int, int]] = []
    seq = rows[branch].leaf_seq
    while seq > 0:
        if seq == rows[branch].left_seq:
            branch = rows[branch].parent
            continue
        assert (branch, seq) in entries
        walk.append((branch, seq))
        seq -= 1
    return walk[::-1]
