"""A reference for the session log: everything in memory, everything computed anew from the first entry on.

It keeps no totals and stores no live edits; a path is a walk from its leaf to the first entry. It shares the engine's
pure functions with the program, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from foldline.engine.edits import Edit, LiveEdits, within
from foldline.engine.facts import files_of
from foldline.engine.files import Files
from foldline.engine.ledger.find import items_of
from foldline.engine.messages import Message, result_text
from foldline.engine.models.budget import PINS_SHARE, SMALLEST_SUMMARY, Goals, check_fixed_parts
from foldline.engine.models.gauge import Fixed, Frame, Gauge
from foldline.engine.models.given_fields import check_given
from foldline.engine.outline import Outline, Summarized, Unit, outline_of
from foldline.engine.planning import interim
from foldline.engine.planning.chunks import chunk_tokens
from foldline.engine.planning.cut_points import InputLimits, SummaryRange, next_range
from foldline.engine.planning.pipeline import plan_for
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.recent import due_items
from foldline.engine.planning.stages.truncate import fit
from foldline.engine.policies.policy import Policy, from_stored, policy_of, to_stored
from foldline.engine.policies.presets import PRESETS
from foldline.engine.session_files.trees import TreeEntry, newest_within
from foldline.engine.summaries.file_lists import file_lists
from foldline.engine.tokens.counter import count_system, scaled, unscaled
from foldline.engine.tokens.estimates import EXACT
from foldline.engine.view import make_view
from foldline.engine.wording import pins_tokens, stub_tokens, summary_frame_tokens, summary_tokens
from tests.support.log.reference_parts import (
    AUTOMATIC,
    BACKGROUND,
    EDITING,
    INTERACTIVE,
    KEPT_AT_ONCE,
    KINDS,
    Branch,
    Entry,
    Job,
    Kind,
    ReferenceRequest,
    Refused,
    Summary,
    fold,
    path_to,
    placed,
)


@dataclass
class Reference:
    """A session. `now` is set from outside before each step, in milliseconds, and so is the learned `multiplier`."""

    window: int
    system: str | None = None
    policy_values: Mapping[str, Any] = field(default_factory=dict)
    auto_compact: bool = True
    model: str = "test/model"
    lease_ms: int = 120_000
    retry_ms: int = 30_000
    retry_ms_max: int = 600_000
    max_attempts: int = 3
    summarizer_tokens: int = 100_000
    summarizer_calls: int = 1
    now: int = 0
    multiplier: int = 1000
    pins: list[str] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=lambda: [Branch(0, None, None)])
    head: int = 0
    jobs: list[Job] = field(default_factory=list)
    summaries: dict[object, Summary] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    jobs_before: int = 0
    appends: int = 0
    append_under_way: int = 0
    summaries_before: int = 0
    interims: int = 0
    interim_names: dict[object, str] = field(default_factory=dict)
    is_deleted: bool = False

    # ---- what there is ----

    def path(self, branch: int) -> list[Entry]:
        return path_to(self.branches[branch].leaf)

    def outline(self, branch: int, *, is_raw: bool = False) -> Outline:
        """The outline of a branch, with its live edits or with none."""
        path = self.path(branch)
        return outline_of(placed(path)[0], LiveEdits() if is_raw else fold(path).edits)

    def open_calls(self, branch: int) -> list[str]:
        return [call.id for call in placed(self.path(branch))[1].open_calls]

    def view(self, branch: int, *, stub_open: bool = True, keep_empty: bool = False) -> list[Message]:
        """The view from all originals of the path."""
        messages = {entry.seq: entry.said for entry in self.path(branch) if entry.said is not None}
        outline = self.outline(branch)
        return make_view(outline, messages, self.texts, self.pins, stub_open=stub_open, keep_empty=keep_empty)

    def used(self, branch: int) -> int:
        """Scaled tokens of a branch's view, stubs of waiting calls included."""
        stubs = stub_tokens() * len(self.open_calls(branch))
        return scaled(self.outline(branch).tokens + stubs + self.overhead, self.multiplier)

    def fits(self, branch: int) -> bool:
        """Whether a branch's view is within the budget, stubs of waiting calls included."""
        return self.used(branch) <= self.limit

    @property
    def policy(self) -> Policy:
        return policy_of(self.policy_values, PRESETS)

    @property
    def limit(self) -> int:
        return self.frame.budget(self.policy).limit

    @property
    def frame(self) -> Frame:
        return Frame(self.model, self.window)

    @property
    def overhead(self) -> int:
        """Unscaled tokens of system prompt and pins."""
        return count_system(self.system) + pins_tokens(self.pins)

    def policy_for(self, request: ReferenceRequest) -> Policy:
        return self.policy if request.policy is None else from_stored(request.policy, PRESETS)

    def goals(self, branch: int, request: ReferenceRequest = AUTOMATIC) -> Goals:
        """What plans on a branch aim at: also with stubs for the calls that wait, its view has to fit."""
        stubs = stub_tokens() * len(self.open_calls(branch))
        goals = self.frame.goals(self.policy_for(request), self.overhead + stubs, self.multiplier)
        if request.asked_at is not None:
            return goals.when_asked(request.asked_at)
        if request.target_tokens is None:
            return goals
        return goals.aiming_at(unscaled(request.target_tokens, self.multiplier) - self.overhead)

    def gauge(self, branch: int, request: ReferenceRequest = AUTOMATIC) -> Gauge:
        """How the policy sees it; there are no tools."""
        stubs = stub_tokens() * len(self.open_calls(branch))
        fixed = Fixed(self.system, "[]", pins_tokens(self.pins) + stubs)
        goals = self.goals(branch, request)
        gauge = self.frame.gauge(self.policy_for(request), goals, fixed)
        if request.asked_at is not None:
            return gauge.when_asked(goals, self.outline(branch), request.asked_at)
        return gauge if request.target_tokens is None else gauge.aimed(goals, self.outline(branch))

    def jobs_of(self, branch: int, *states: str) -> list[Job]:
        """The jobs that summarize ranges of a branch."""
        return self.jobs_like(branch, AUTOMATIC, *states)

    def jobs_like(self, branch: int, request: ReferenceRequest, *states: str) -> list[Job]:
        """The jobs on a branch for what was left in the same place, or for its own ranges."""
        return [
            job
            for job in self.jobs
            if job.branch == branch and job.state in states and _subject(job.request) == _subject(request)
        ]

    # ---- what callers do ----

    def append(self, messages: Sequence[Message], reported: tuple[int, int] | None = None) -> list[str]:
        """`reported` is what a provider said of the view as it is and of the answer, which is the first message."""
        head = self.branches[self.head]
        if reported:
            seq = head.leaf.seq if head.leaf else 0
            head.reported = (sum(reported), seq + 1) if reported[1] else (reported[0], seq)
        if head.leaf is None and self.system is None and messages[0].role == "system":
            fixed = self.overhead + count_system(messages[0].text)
            check_fixed_parts(self.policy, self.limit, fixed, self.multiplier)
            self.system, messages = messages[0].text, messages[1:]
        self.appends += 1
        self.append_under_way = self.appends
        entries = [self._add(self.head, "message", message=message) for message in messages]
        self._run_trigger(self.head)
        self.append_under_way = 0
        return [entry.id for entry in entries]

    def is_parent(self, name: str) -> bool:
        """Whether this names the newest message on the path, or a later entry of it."""
        path = self.path(self.head)
        newest = max((entry.seq for entry in path if entry.kind == "message"), default=0)
        return any(entry.id == name and entry.seq >= newest for entry in path)

    def compact(self, request: ReferenceRequest, *, stages: list[str] | None, summarize: bool | None) -> None:
        if request.policy is not None:
            request = request._replace(policy=to_stored(policy_of(request.policy, PRESETS, self.policy), PRESETS))
        if request.target_tokens is None:
            request = request._replace(asked_at=self._history_when_asked())
        policy = self.policy_for(request)
        policy = (policy if stages is None else policy.naming(stages)).on("asked")
        outline, has_target = self.outline(self.head), request.target_tokens is not None
        goals, gauge = self.goals(self.head, request), self.gauge(self.head, request)
        plan = plan_for(outline, policy.stages, goals, gauge, is_asked=True, has_target=has_target)
        is_wanted = plan.is_summary_wanted if summarize is None else summarize
        if plan.edits:
            self._compact(
                self.head, plan.edits, request, most=goals.target if has_target else None, lifts_bars=is_wanted
            )
        if is_wanted:
            outline = self.outline(self.head)
            due = due_items(outline, self.policy_for(request), self.gauge(self.head, request), is_asked=True)
            hidden = [
                number for number, item in enumerate(outline.items, 1) if isinstance(item, Unit) and item.is_hidden
            ]
            due = max([due, *hidden])
            self._request(self.head, request._replace(until=outline.items[due - 1].last if due else 0))
        elif self.outline(self.head).pending_tokens:
            automatic = AUTOMATIC._replace(target_tokens=request.target_tokens)
            self._request(self.head, automatic, is_planned=True, left=KEPT_AT_ONCE + 1)

    def _history_when_asked(self) -> int:
        """What the history takes now or took after the append of the newest message, whichever is more."""
        path = self.path(self.head)
        append = next((entry.append for entry in reversed(path) if entry.kind == "message"), 0)
        end = max((entry.seq for entry in path if entry.append == append), default=0) if append else 0
        before = [entry for entry in path if entry.seq <= end]
        then = outline_of(placed(before)[0], fold(before).edits)
        return max(self.outline(self.head).tokens, then.tokens)

    def undo(self, name: str) -> list[str]:
        path = self.path(self.head)
        live = fold(path).live
        chosen = next((entry for entry in path if entry.id == name and entry.kind == "compaction"), None)
        if chosen is None:
            raise Refused("NotFound")
        if chosen not in live:
            raise Refused("Conflict")
        taken = live[live.index(chosen) :]
        while absorbed := [entry for entry in live if entry not in taken and _are_hides_absorbed(entry, taken)]:
            taken = live[live.index(absorbed[0]) :]
        self._add(self.head, "undo", undone=tuple(taken))
        self._request_pending(self.head)
        return [entry.id for entry in taken]

    def redo(self) -> list[str]:
        path = self.path(self.head)
        folded = fold(path)
        if not folded.undos:
            raise Refused("Conflict")
        undo = folded.undos[-1]
        since = [entry for entry in path[path.index(undo) :] if entry.kind == "compaction"]
        if not all(entry.is_inline for entry in since):
            raise Refused("RedoSuperseded")
        back = tuple(entry for entry in folded.live if entry in since)
        self._add(self.head, "redo", undo=undo, redone=undo.undone, undone=back)
        self._request_pending(self.head)
        return [entry.id for entry in undo.undone]

    def move(self, name: str, request: ReferenceRequest | None = None) -> None:
        """To the branch that ends here or whose last message this is, else to a new one.

        With an request, what is left behind is summarized.
        """
        found = (entry for branch in self.branches for entry in path_to(branch.leaf) if entry.id == name)
        entry = next(found, None)
        if entry is None:
            raise Refused("UnknownEntry")
        own = self.branches[entry.branch]
        ends_here = [own, *self.branches]
        tip = next((branch for branch in ends_here if branch.leaf is entry), None)
        if tip is None and entry.kind == "message" and entry is _last_message(own):
            tip = own
        if tip is None:
            tip = Branch(len(self.branches), entry, entry)
            self.branches.append(tip)
        old, new = self.path(self.head), self.path(tip.number)
        self.head = tip.number
        behind = [entry for entry in old if entry not in new]
        if request and behind:
            edits = next((entry for entry in reversed(old) if entry.kind in EDITING), None)
            at = (edits.branch, edits.seq) if edits else None
            self._request(tip.number, request._replace(left=(old[-1].branch, behind[0].seq, behind[-1].seq, at)))
        self._run_trigger(tip.number)

    def pin(self, text: str) -> None:
        pins = [*self.pins, text]
        if scaled(pins_tokens(pins), self.multiplier) > int(self.limit * PINS_SHARE):
            raise Refused("PinTooLarge")
        fixed = self.overhead - pins_tokens(self.pins) + pins_tokens(pins)
        check_fixed_parts(self.policy, self.limit, fixed, self.multiplier)
        self.pins = pins
        self.forget()
        self._run_trigger(self.head)

    def unpin(self, index: int) -> None:
        self.pins.pop(index)
        self.forget()

    def forget(self) -> None:
        """What was reported was of another view."""
        for branch in self.branches:
            branch.reported = None

    def pin_entry(self, name: str) -> None:
        message = next(entry.message for entry in reachable(self) if entry.id == name)
        assert message is not None
        text = result_text(message.result) if message.result else message.text
        if not text:
            raise Refused("UnknownEntry")
        self.pin(text)

    def change(self, given: Mapping[str, Any] | None = None, **changes: Any) -> None:
        """Set `window`, `system`, `policy_values` or `auto_compact`; `given` are the fields of the policy to check."""
        before = {name: getattr(self, name) for name in changes}
        counted_by = self._counted_by
        vars(self).update(changes)
        try:
            check_given(self.policy, given, self.frame)
            check_fixed_parts(self.policy, self.limit, self.overhead, self.multiplier)
        except Exception:
            vars(self).update(before)
            raise
        if self._counted_by != counted_by:
            self.forget()
        self._run_trigger(self.head)

    @property
    def _counted_by(self) -> Any:
        return self.policy.counter, self.policy.trusts_usage, self.system

    def delete(self) -> None:
        self.is_deleted = True
        for job in self.jobs:
            if job.state in {"queued", "running"}:
                job.end("cancelled")

    # ---- what workers do ----

    def claim(self, queue: str) -> Job | None:
        """The waiting job with the first turn that has something to do; those that have nothing to do end."""
        while runnable := [job for job in self.jobs if job.queue == queue and self._is_runnable(job)]:
            job = min(runnable, key=attrgetter("turn"))
            if self._take(job):
                return job
        return None

    def _is_runnable(self, job: Job) -> bool:
        is_due = job.state == "queued" and job.not_before <= self.now
        return is_due and not self.jobs_like(job.branch, job.request, "running")

    def _take(self, job: Job) -> bool:
        covered = self._range(job.branch, job.request)
        if covered is None:
            job.end("superseded")
            self._run_trigger(job.branch)
            return False
        kept = self._kept(job.branch, covered, job.request)
        if kept is not None:
            if self._publish(job.branch, covered, kept, job.request):
                job.end("succeeded")
                self._after_publish(job.branch, job.request)
            else:
                job.end("failed", "no-room")
            return False
        job.state, job.error, job.attempts, job.claims = "running", None, job.attempts + 1, job.claims + 1
        job.lease_until = self.now + self.lease_ms
        job.covered, job.base = covered, self._newest_edits(job.branch)
        return True

    def summarized_by(self, job: Job) -> tuple[list[str], list[Message]]:
        """What the worker must be given: texts of the summaries it replaces, and the originals not under one."""
        assert job.covered is not None
        path = self.read_path(job.branch, job.request)
        covered, condensed = job.covered, self.read_edits(job.branch, job.request).condensed
        inside = [entry for entry in path if covered.first <= entry.seq <= covered.last]
        fresh = [entry for entry in inside if not any(edit.first <= entry.seq <= edit.last for edit in condensed)]
        return [self.written[name] for name in covered.replaces], [
            entry.message or replace(entry.said, role="developer") for entry in fresh if entry.said
        ]

    def read_path(self, number: int, request: ReferenceRequest) -> list[Entry]:
        """The path of which a summary is made: that of another branch as it was when that was left."""
        if request.left is None:
            return self.path(number)
        return [entry for entry in self.path(request.left[0]) if entry.seq <= request.left[2]]

    def read_edits(self, number: int, request: ReferenceRequest) -> LiveEdits:
        """The edits through which that is seen, without summaries that reach back to before what was left."""
        live = fold(self.read_path(number, request)).edits
        own = tuple(edit for edit in live.condensed if not request.left or edit.first >= request.left[1])
        return replace(live, condensed=own)

    def files_of(self, entries: Iterable[Entry]) -> Files:
        """The files that were read and changed in these entries, and those of branch summaries among them."""
        found = Files()
        for entry in entries:
            found |= files_of(entry.facts.calls) | entry.files if entry.said else Files()
        return found

    def publish(self, job: Job, text: str) -> str:
        """The state the job ended in, by the holder of its lease."""
        path, covered = self.path(job.branch), job.covered
        since = path[path.index(job.base) + 1 :] if job.base else path
        assert covered is not None
        edits = [entry for entry in since if entry.kind in EDITING and not entry.is_inline_compaction]
        appendix = self._appendix(job.branch, covered, job.request)
        shown = f"{text}\n\n{appendix}" if appendix else text
        if edits and not job.request.left:
            job.end("superseded")
            self._run_trigger(job.branch)
        elif not text.strip() or summary_tokens(shown) > covered.max_tokens + summary_frame_tokens():
            self.fail(job, "too large")
        else:
            summary = Summary(f"sum_{self.summaries_before + len(self.written) + 1}", text, shown)
            self.texts[summary.id], self.written[summary.id] = shown, text
            self.summaries[self._key(job.branch, covered, job.request)] = summary
            if self._publish(job.branch, covered, summary, job.request):
                job.end("succeeded")
                self.branches[job.branch].failures = 0
                self._after_publish(job.branch, job.request)
            else:
                self.fail(job, "no-room")
        return job.state

    def fail(self, job: Job, error: str) -> None:
        """A failure holds automatic jobs of the branch back, waiting ones included; each in a row for twice as long."""
        job.end("failed", error)
        if job.request.left:
            return
        branch = self.branches[job.branch]
        branch.next_summary_at = self.now + min(self.retry_ms * 2**branch.failures, self.retry_ms_max)
        branch.failures += 1
        for other in self.jobs_of(job.branch, "queued"):
            if not other.request.is_asked:
                other.not_before = branch.next_summary_at

    def beat(self, job: Job) -> None:
        job.lease_until = self.now + self.lease_ms

    def release(self, job: Job) -> None:
        """Handed back by its worker, which is no attempt."""
        job.attempts -= 1
        self._requeue(job)

    def _requeue(self, job: Job) -> None:
        """Back to the queue, one with the job that waits meanwhile; after too many attempts it fails."""
        if job.attempts >= self.max_attempts:
            self.fail(job, "lapsed")
            return
        for other in self.jobs_like(job.branch, job.request, "queued"):
            other.end("superseded", by=job.id)
            if other.request.is_asked:
                job.turn = job.turn if job.queue == other.queue else other.turn
                job.request, job.queue = other.request, other.queue
        job.state, job.error = "queued", "lapsed"

    def sweep(self) -> None:
        for job in [job for job in self.jobs if job.state == "running" and job.lease_until <= self.now]:
            self._requeue(job)
        for branch in self.branches:
            if 0 < branch.next_summary_at <= self.now and not self.is_deleted:
                branch.next_summary_at = 0
                self._run_trigger(branch.number)

    # ---- what follows from it ----

    def _add(self, number: int, kind: Kind, **values: Any) -> Entry:
        branch = self.branches[number]
        seq = branch.leaf.seq + 1 if branch.leaf else 1
        branch.leaf = Entry(number, seq, kind, branch.leaf, append=self.append_under_way, **values)
        if kind in EDITING:
            branch.reported = None
        return branch.leaf

    def _compact(
        self, number: int, edits: tuple[Edit, ...], request: ReferenceRequest = AUTOMATIC, *, most: int | None = None,
        **values: Any,
    ) -> None:  # fmt: skip
        """Add a compaction, with an interim summary of each hidden run that has none, made of all its originals."""
        after, path = self.outline(number).edited(edits), self.path(number)
        policy = self.policy_for(request)
        for wanted in interim.due(after, self.goals(number, request), self.gauge(number, request), most=most):
            inside = [entry for entry in path if entry.said and wanted.first <= entry.seq <= wanted.last]
            items = [(entry.seq, item) for entry in inside if entry.said for item in items_of(entry.said)]
            made = interim.interim_of(items, wanted, policy.headings)
            name = ""
            if made.text:
                new = f"interim_{self.interims + len(self.interim_names) + 1}"
                name = self.interim_names.setdefault((made.text, tuple(made.items)), new)
                self.texts[name] = made.text
            edits = (*edits, interim.edit_of(wanted, made, name))
        self._add(number, "compaction", edits=edits, **values)

    def _newest_edits(self, number: int) -> Entry | None:
        return next((entry for entry in reversed(self.path(number)) if entry.kind in EDITING), None)

    def seen(self, number: int) -> int:
        """What the history takes as the policy counts it, or as a provider reported it."""
        measure, outline = self.gauge(number).measure, self.outline(number)
        counted, reported = outline.measured(measure).tokens, self.branches[number].reported
        if not reported or not self.policy.trusts_usage or self.policy.counter == EXACT:
            return counted
        before = [entry for entry in self.path(number) if entry.seq <= reported[1]]
        of_before = outline_of(placed(before)[0], fold(before).edits).measured(measure).tokens
        fixed = Fixed(self.system, "[]", pins_tokens(self.pins)).estimated(self.policy.counter, self.frame.provider)
        return max(0, reported[0] - fixed) + counted - of_before

    def _run_trigger(self, number: int, left: int = KEPT_AT_ONCE) -> None:
        """Compact if the view is over the trigger, and summarize; `left` kept summaries may be published meanwhile."""
        if not left:
            self._queue(number, AUTOMATIC)
            return
        goals, outline, is_wanted = self.goals(number), self.outline(number), False
        is_unread = bool(outline.live.interims)
        is_heeded = self.policy.heeds_usage and self.branches[number].reported is not None
        gauge = replace(self.gauge(number), reported=self.seen(number) if is_heeded else None)
        is_over = self.seen(number) > min(gauge.goals.trigger, gauge.goals.limit) or outline.tokens > goals.limit
        is_over = self.auto_compact and is_over
        if is_over:
            plan = plan_for(outline, self.policy.stages, goals, gauge)
            is_wanted = plan.is_summary_wanted
            if plan.edits or interim.are_too_large(plan.outline, goals):
                self._compact(number, plan.edits)
        pending = self.outline(number).pending_tokens
        if (is_wanted or pending) and self.now >= self.branches[number].next_summary_at:
            # A plan that read nothing of what was hidden joins any job.
            self._request(number, AUTOMATIC, is_planned=is_over and not is_unread, left=left)

    def _request_pending(self, number: int) -> None:
        if self.outline(number).pending_tokens and self.now >= self.branches[number].next_summary_at:
            self._request(number, AUTOMATIC, left=KEPT_AT_ONCE + 1)

    def _range(self, number: int, request: ReferenceRequest) -> SummaryRange | None:
        """The range of a summary; an undone one is not made again unless requested, or hidden to make room."""
        if request.left:
            return self._range_left(number, request)
        outline = self.outline(number)
        policy, gauge = self.policy_for(request), self.gauge(number, request if request.is_asked else AUTOMATIC)
        if not request.is_asked:
            gauge = replace(gauge, reported=self.seen(number))
        due = due_items(outline, policy, gauge, is_asked=request.is_asked)
        if request.until is not None:
            due = min(due, sum(item.last <= request.until for item in outline.items))
        own, seen = policy.stage("summarize"), outline.measured(gauge.measure)
        chunk = chunk_tokens(seen, own, self.window, due)
        most = int(self.summarizer_tokens * max(1, self.summarizer_calls * 0.9))
        reads = InputLimits(min(self.summarizer_tokens, chunk), min(most, chunk))
        covered = next_range(outline, self.goals(number, request), reads, due, is_asked=request.is_asked)
        if covered and not request.is_asked:
            inside = [item for item in outline.items if covered.first <= item.first <= covered.last]
            shown = [item for item in inside if isinstance(item, Unit) and not item.is_hidden]
            assert not any(within(unit.first, unit.last, outline.live.barred) for unit in shown)
        return covered

    def _range_left(self, number: int, request: ReferenceRequest) -> SummaryRange | None:
        """Of what was left, the newest that a summarizer has room for."""
        assert request.left
        path, first = self.read_path(number, request), request.left[1]
        facts = [entry for entry in placed(path)[0] if entry.seq >= first]
        items = outline_of(facts, self.read_edits(number, request)).items
        if not items:
            return None
        said = [entry for item in items if isinstance(item, Unit) for entry in item.entries]
        units = [item for item in items if isinstance(item, Unit)]
        entries = [
            TreeEntry(
                f"{unit.first}", None, KINDS.get(unit.entries[0].role, "message"), sum(e.tokens for e in unit.entries)
            )
            for unit in units
        ]
        entries += [
            TreeEntry(f"s{item.first}", None, "compaction", item.edit.tokens)
            for item in items
            if isinstance(item, Summarized)
        ]
        entries.sort(key=lambda entry: int(entry.id.lstrip("s")))
        room = min(self.summarizer_tokens, max(self.window - self.policy.branch_reserve_tokens, self.window // 2))
        read = {entry.id for entry in newest_within(entries, room)}
        newest = items[-1]
        if not read and isinstance(newest, Unit):
            read = {f"{newest.first}"}
        elif not read:
            read = {f"s{newest.first}"}
        edits = [item.edit for item in items if isinstance(item, Summarized) and f"s{item.first}" in read]
        start = min((int(name) for name in read if name.isdecimal()), default=newest.last)
        tokens = sum(entry.tokens for entry in said if entry.seq >= start) + sum(edit.tokens for edit in edits)
        most = max(SMALLEST_SUMMARY, min(self.goals(number).summary_max, tokens - summary_frame_tokens() - 1))
        return SummaryRange(
            start, newest.last, tuple(e.summary for e in edits), tokens, 0, is_pending=False, max_tokens=most
        )

    def _request(
        self, number: int, request: ReferenceRequest, *, is_planned: bool = False, left: int = KEPT_AT_ONCE
    ) -> bool:
        """Publish a kept summary, or queue a job; whether there was anything to summarize."""
        if not (is_planned or request.is_asked) and self.jobs_of(number, "queued", "running"):
            return True
        covered = self._range(number, request)
        if covered is None:
            return False
        kept = self._kept(number, covered, request)
        if kept is None:
            self._queue(number, request)
        elif self._publish(number, covered, kept, request):
            self._after_publish(number, request, left - 1)
        else:
            self._show_no_room(number, request)
            return False
        return True

    def _queue(self, number: int, request: ReferenceRequest) -> None:
        """One running and one waiting: join the running one if it will do, or the waiting one."""
        if any(
            not request.is_asked or running.request == request for running in self.jobs_like(number, request, "running")
        ):
            return
        for waiting in self.jobs_like(number, request, "queued"):
            if request.is_asked:
                waiting.request, waiting.not_before = request, 0
                if waiting.queue != INTERACTIVE:
                    waiting.queue, waiting.turn = INTERACTIVE, self._next_turn(INTERACTIVE)
            return
        self.jobs.append(self._new_job(number, request))

    def _new_job(self, number: int, request: ReferenceRequest) -> Job:
        name = f"job_{self.jobs_before + len(self.jobs) + 1}"
        queue = INTERACTIVE if request.is_asked else BACKGROUND
        return Job(name, number, request, queue, self._next_turn(queue))

    def _next_turn(self, queue: str) -> int:
        """After those that were begun, and those that wait for a worker and nothing else; there is one tenant."""
        before = (
            job.turn
            for job in self.jobs
            if job.queue == queue
            and (job.state in {"running", "succeeded"} or (job.state == "queued" and job.not_before <= self.now))
        )
        return max(before, default=0) + 1

    def _show_no_room(self, number: int, request: ReferenceRequest) -> None:
        alike = (
            job for job in reversed(self.jobs) if job.branch == number and _subject(job.request) == _subject(request)
        )
        newest = next(alike, None)
        if newest is None or newest.error != "no-room":
            job = self._new_job(number, request)
            job.end("failed", "no-room")
            self.jobs.append(job)

    def _key(self, number: int, covered: SummaryRange, request: ReferenceRequest) -> object:
        path = self.read_path(number, request)
        ends = [entry.id for entry in path if entry.seq in {covered.first, covered.last}]
        policy = self.policy_for(request)
        shape = (policy.headings, policy.transcript, policy.splits_turns, policy.lists_files)
        return (request.left and request.left[1], *ends, covered.replaces, request.instructions, *shape)

    def _kept(self, number: int, covered: SummaryRange, request: ReferenceRequest) -> Summary | None:
        kept = self.summaries.get(self._key(number, covered, request))
        return kept if kept and kept.tokens <= covered.max_tokens + summary_frame_tokens() else None

    def _publish(self, number: int, covered: SummaryRange, summary: Summary, request: ReferenceRequest) -> bool:
        """Put the summary in its place and fit the view again; not if that would make a fitting view too large."""
        if request.left:
            return self._place(number, summary, request)
        goals, outline = self.goals(number), self.outline(number)
        condense = Edit(
            "condense", covered.first, covered.last, summary=summary.id, tokens=summary.tokens,
            original_tokens=covered.original_tokens, replaces=covered.replaces,
        )  # fmt: skip
        after, fitting = outline.edited([condense]), goals
        if self.policy.counter != EXACT:
            # What the policy's own program would keep goes only as far as the trigger.
            fitting = replace(goals, target=max(goals.target, min(goals.trigger, goals.limit)))
        plan = fit(after, Plan(after.tokens), fitting)
        if goals.limit < plan.tokens and outline.tokens <= plan.tokens:
            return False
        most = None if request.target_tokens is None else self.goals(number, request).target
        self._compact(
            number, (condense, *plan.edits), most=most, is_inline=False, lifts_bars=request.is_asked,
            summary=summary, files=self._files_summarized(number, covered.first, covered.last),
        )  # fmt: skip
        return True

    def _files_summarized(self, number: int, first: int, last: int) -> Files:
        """Of a range and, if the policy lists them, of the summaries before it."""
        path = self.path(number)
        earlier = [edit for edit in fold(path).edits.condensed if edit.last < first and self.policy.lists_files]
        ranges = [*((edit.first, edit.last) for edit in earlier), (first, last)]
        return self.files_of(entry for entry in path if any(low <= entry.seq <= high for low, high in ranges))

    def _place(self, number: int, summary: Summary, request: ReferenceRequest) -> bool:
        """Add the summary of what was left at the leaf, once, unless that would make a fitting view too large."""
        if any(entry.summary == summary and entry.kind == "branch_summary" for entry in self.path(number)):
            return True
        goals, outline, branch = self.goals(number), self.outline(number), self.branches[number]
        before, reported = branch.leaf, branch.reported
        self._add(number, "branch_summary", summary=summary, files=self._files_left(request))
        after = self.outline(number)
        plan = fit(after, Plan(after.tokens), goals)
        placed_at = branch.leaf.seq if branch.leaf else 0
        is_hidden = any(edit.kind == "hide" and edit.first <= placed_at <= edit.last for edit in plan.edits)
        if is_hidden or (goals.limit < plan.tokens and outline.tokens <= plan.tokens):
            branch.leaf, branch.reported = before, reported
            return False
        if plan.edits:
            self._compact(number, plan.edits)
        return True

    def _appendix(self, number: int, covered: SummaryRange, request: ReferenceRequest) -> str:
        """The files that stand below a summary, where it has room for them."""
        if not self.policy_for(request).lists_files or covered.max_tokens < 8 * SMALLEST_SUMMARY:
            return ""
        inside = (entry for entry in self.path(number) if covered.first <= entry.seq <= covered.last)
        files = self._files_left(request) if request.left else self.files_of(inside)
        return file_lists(files, covered.max_tokens // 4 - 4)

    def _files_left(self, request: ReferenceRequest) -> Files:
        """Of all that was left."""
        assert request.left
        return self.files_of(entry for entry in self.read_path(0, request) if entry.seq >= request.left[1])

    def _after_publish(self, number: int, request: ReferenceRequest, left: int = KEPT_AT_ONCE) -> None:
        """Request the rest of the range, or run the trigger; a job does what is too much for one request."""
        if request.left or not request.is_asked:
            self._run_trigger(number, left)
        elif not left:
            self._queue(number, request)
        elif not self._request(number, request, left=left):
            self._run_trigger(number)


def _subject(request: ReferenceRequest) -> Any:
    return request.left and (request.left[0], request.left[2])


def _are_hides_absorbed(entry: Entry, taken: Sequence[Entry]) -> bool:
    spans = [span for other in taken for span in other.condensed]
    return any(first <= high and low <= last for first, last in entry.hidden for low, high in spans)


def _last_message(branch: Branch) -> Entry | None:
    return next((entry for entry in reversed(path_to(branch.leaf)) if entry.kind == "message"), None)


def reachable(reference: Reference) -> Iterator[Entry]:
    """Every entry of every branch, once."""
    yield from dict.fromkeys(entry for branch in reference.branches for entry in path_to(branch.leaf))
