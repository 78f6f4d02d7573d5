"""Replays one transcript against a service as its agent would, and checks every view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any, Final

from foldline.client import Client, Refused
from foldline.engine.errors import FixedPartsDoNotFit
from foldline.engine.formats import FORMATS
from foldline.engine.models.budget import check_fixed_parts
from foldline.engine.models.gauge import Frame
from foldline.engine.tokens.estimates import EXACT
from foldline.engine.wire import dumps
from foldline.log.job_state import ACTIVE, JobState
from foldline.replay.options import Options
from foldline.replay.out_of_view import COMPARED, OutOfViewWatch, watch_of
from foldline.replay.pace import pace_of
from foldline.replay.prefix_watch import PrefixWatch
from foldline.replay.record import SUMMARY, SessionRecord
from foldline.replay.steps import Step, TranscriptProgress, fixed_tokens, steps_of
from foldline.replay.transcripts import Transcript
from foldline.replay.usage_watch import Crossing, UsageWatch, levels_of
from foldline.replay.view_check import Expected, check_content, check_view
from foldline.replay.view_count import outside_tokens, view_tokens
from foldline.terminal import CommandFailed

JsonDict = dict[str, Any]
POLL_SECONDS: Final = 0.05
# The formats in which views are read, by the transcript's own: that one first, then one into which much is converted.
VIEW_FORMATS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "openai": ("openai", "anthropic"),
        "anthropic": ("anthropic", "openai"),
        "responses": ("responses", "openai"),
        "gemini": ("gemini", "openai"),
        "native": ("openai", "anthropic"),
    }
)
# Larger views are read in the other formats only after a compaction and at the end: between, views only grow.
LARGE_BYTES: Final = 4_000_000


class Drive:
    """The replay of one session.

    `advanced` is called with the number of messages just sent. `noted` is called with a note for the user and its
    style.
    """

    def __init__(
        self,
        service: Client,
        transcript: Transcript,
        options: Options,
        advanced: Callable[[int], None],
        noted: Callable[[str, str], None],
    ) -> None:
        self.service = service
        self.transcript = transcript
        self.options = options
        self.record = SessionRecord(transcript.id)
        self.progress = TranscriptProgress(transcript.format, fixed_tokens(transcript.system, transcript.tools))
        self.prefix = PrefixWatch(self._new_compactions)
        counts_otherwise = options.known_policy.counter != EXACT
        self.usage = UsageWatch(levels_of(options.compact_threshold), counts_otherwise)
        self.formats = options.view_formats or VIEW_FORMATS[transcript.format]
        self._advanced = advanced
        self._noted = noted
        self._frame = Frame(options.model, options.context_window)
        self._outside_tokens = outside_tokens(transcript.system, transcript.tools)
        self._known: set[str] = set()
        self._cursor: str | None = None
        self._is_of_images = False
        self._out_of_view: OutOfViewWatch | None = None

    def run(self) -> SessionRecord:
        """Replay the session to its end, or until the service refuses a request; the session's record."""
        try:
            self._create()
            for step in steps_of(self.transcript.messages, self.transcript.format):
                self._step(step)
            self._finish()
        except Refused as refused:
            self._stopped(refused)
        self._total()
        return self.record

    def _create(self) -> None:
        body = self.options.session_body()
        if self.transcript.system is not None:
            body["system"] = self.transcript.system
        if self.transcript.tools:
            body["tools"] = list(self.transcript.tools)
        try:
            self.record.session_id = self.service.create_session(body)["id"]
        except Refused as refused:
            # All sessions have the same policy, so none can be created.
            if str(refused.problem.get("path")).startswith("policy"):
                raise CommandFailed(_policy_refused(refused, self.service.url)) from refused
            raise
        if self.options.is_preset_known:
            self._out_of_view = watch_of(self.options.known_policy, self._frame, self.transcript)

    def _stopped(self, refused: Refused) -> None:
        try:
            policy = self.options.known_policy
            check_fixed_parts(policy, self._frame.budget(policy).limit, self.progress.fixed_tokens, 1000)
        except FixedPartsDoNotFit as error:
            if refused.name == "fixed-parts-do-not-fit":
                self._listed(f"no session: {error}")
                return
        self._violated(f"stopped: {refused}")

    def _step(self, step: Step) -> None:
        if step.before:
            self._append(step.before)
        if self.progress.open_calls:
            # The agent could not call its model here: the transcript continues without these results.
            self.record.waiting_points += 1
        else:
            self._call_model()
        if step.answer:
            self._append(step.answer)

    def _append(self, messages: list[JsonDict]) -> None:
        answer = self.service.append(self.record.session_id, messages, self.transcript.format)
        self.record.limit = answer["budget"]["limit"]
        self.progress.add(messages)
        if self._out_of_view is not None:
            self._out_of_view.appended(FORMATS[self.transcript.format].parse(messages))
        self._note(self.usage.saw(answer["budget"], answer["compaction"]))
        self.prefix.appended(answer["version"], compacted=bool((answer["compaction"] or {}).get("id")))
        if sorted(answer["open_calls"]) != sorted(self.progress.open_calls):
            self._violated(f"open calls are {answer['open_calls']}, expected {self.progress.open_calls}")
        self._advanced(len(messages))

    def _note(self, crossing: Crossing | None) -> None:
        # With compaction disabled, nothing happens at a level.
        if crossing is not None and self.options.is_compacting:
            self._noted(crossing.text(f"{self.record.id} ({self.record.session_id})"), crossing.level.style)

    def _call_model(self) -> None:
        """Fetch the view as before a call of the model, and count the tokens that the model would get."""
        self.record.model_calls += 1
        view = self._fetch_and_check()
        if view is not None:
            self.record.tokens_with += view_tokens(self.formats[0], view, self.transcript.tools)
            self.record.tokens_without += self.progress.plain_tokens + self._outside_tokens
        self._compact_if_due()

    def _fetch_and_check(self, *, is_last: bool = False) -> JsonDict | None:
        """Fetch and check the view in each format; that in the first one, or None if the service refused a view."""
        own, *others = self.formats
        view = self._checked_view(own)
        if view is None:
            return None
        size, is_first_after = self._watch(view)
        if is_last or is_first_after or size <= LARGE_BYTES:
            for other in others:
                if self._checked_view(other) is None:
                    return None
        return view

    def _checked_view(self, format_name: str) -> JsonDict | None:
        view = self._view(format_name)
        for text in () if view is None else check_view(format_name, view, self._expected()):
            self._violated(f"{format_name} view: {text}")
        if view is not None and format_name == COMPARED:
            self._compare(view)
        return view

    def _compare(self, view: JsonDict) -> None:
        """Compare what is out of view with what the preset's own program would have hidden."""
        beyond = None if self._out_of_view is None else self._out_of_view.saw(view)
        if beyond is not None and self.options.has_own_program and beyond.is_wrong:
            self.record.views_too_deep += 1
            self._violated(f"{COMPARED} view: {beyond}")

    def _view(self, format_name: str) -> JsonDict | None:
        try:
            return self.service.context(self.record.session_id, format_name)
        except Refused as refused:
            self._refused_view(refused)
            return None

    def _refused_view(self, refused: Refused) -> None:
        least, limit = self.progress.least_tokens, self.record.limit
        does_not_fit = refused.name == "view-does-not-fit"
        if does_not_fit and not self.options.is_compacting and self.progress.all_tokens > limit:
            self.record.views_over_budget += 1
        elif does_not_fit and least > limit:
            self._listed(f"no view: the fixed parts and the last user message take {least} of {limit} tokens")
        else:
            self._violated(f"no view: {refused} (fixed parts and last user message take {least} of {limit} tokens)")

    def _watch(self, view: JsonDict) -> tuple[int, bool]:
        """The bytes of the view's messages, and whether it is the first after a compaction."""
        record, size = self.record, len(dumps(view["messages"]))
        record.largest_bytes = max(record.largest_bytes, size)
        record.most_images = max(record.most_images, view["budget"].get("images") or 0)
        self._note(self.usage.saw(view["budget"]))
        is_first_after, wrong = self.prefix.saw(view["version"], view["messages"])
        if wrong is not None:
            self._violated(wrong)
        if is_first_after and not self._is_of_images:
            self.record.fills.append(view["budget"]["used"] / view["budget"]["limit"])
        return size, is_first_after

    def _expected(self) -> Expected:
        return Expected(
            self.transcript.system, self.transcript.tools, self.progress.last_user, self.progress.ends_with_user
        )

    def _compact_if_due(self) -> None:
        every = self.options.compact_every
        if every and self.record.model_calls % every == 0:
            self.service.compact(self.record.session_id)
            self.record.requested_compactions += 1
            self.prefix.compaction_requested()

    def _new_compactions(self) -> list[JsonDict]:
        """The compactions not listed before. Only the list's last page is fetched again."""
        new: list[JsonDict] = []
        while True:
            page = self.service.page(f"/sessions/{self.record.session_id}/compactions", self._cursor)
            new.extend(item for item in page["items"] if item["id"] not in self._known)
            self._known.update(item["id"] for item in page["items"])
            if page.get("next_cursor") is None:
                # What leaves images out stops at a provider's limits, not at the policy's target.
                self._is_of_images = bool(new) and all(item["stages_used"] == ["omit_images"] for item in new)
                return new
            self._cursor = page["next_cursor"]

    def _finish(self) -> None:
        """Wait for the jobs, then check once more: all is summarized, or a failed job has the reason."""
        self._settle()
        if not self.progress.open_calls:
            self._fetch_and_check(is_last=True)
            self._check_unfitted()
        self._check_originals()

    def _settle(self) -> None:
        before: Any = None
        deadline = 0.0
        while True:
            jobs = self.service.jobs(self.record.session_id)
            pending = self.service.stats(self.record.session_id)["pending_tokens"]
            no_room = any(job["state"] == JobState.FAILED and "no-room" in str(job.get("error")) for job in jobs)
            if not any(job["state"] in ACTIVE for job in jobs) and (pending == 0 or no_room):
                if pending:
                    self._listed(f"no-room: {pending} tokens stay pending, and the job that failed is visible")
                return
            now = [(job["id"], job["state"], job.get("progress")) for job in jobs], pending
            if now != before:
                before, deadline = now, monotonic() + self.options.patience_seconds
            elif monotonic() > deadline:
                self._violated(_unsettled(jobs, pending))
                return
            sleep(POLL_SECONDS)

    def _check_unfitted(self) -> None:
        view = self.service.unfitted(self.record.session_id, "openai")
        # A view with fit=none keeps empty messages, which no provider accepts.
        view["messages"] = list(filter(_says_something, view["messages"]))
        for text in check_content("openai", view, self._expected()):
            self._violated(f"openai view with fit=none: {text}")

    def _check_originals(self) -> None:
        """Check that every message is stored as it was sent; those that a wire message joins are only counted."""
        kept = [entry for entry in self.service.entries(self.record.session_id) if entry["kind"] == "message"]
        if len(kept) != self.progress.entries:
            self._violated(f"{len(kept)} messages are stored of {self.progress.entries}")
        elif len(kept) == len(self.transcript.messages):
            pairs = enumerate(zip(kept, self.transcript.messages, strict=True), 1)
            changed = [number for number, (entry, message) in pairs if entry["message"] != message]
            if changed:
                self._violated(f"messages {changed[:10]} are not stored as they were sent")

    def _total(self) -> None:
        record = self.record
        record.turns, record.messages = self.progress.turns, self.progress.messages
        record.appended_tokens = self.progress.message_tokens
        record.prefix_changes = self.prefix.changes
        record.usage_crossings = self.usage.crossings
        if (watch := self._out_of_view) is not None:
            record.views_compared, record.views_beyond_program = watch.views, watch.beyond
            record.views_beyond_by_budget = watch.by_budget
            record.out_of_view, record.program_out_of_view = watch.ours, watch.by_program
        if record.session_id:
            record.compactions = self.service.compactions(record.session_id)
            record.jobs = self.service.jobs(record.session_id)
            record.add_items(self._summaries())
            record.pace = pace_of(self.options.known_policy, self._frame, self.transcript, self.progress)
        record.check_compactions()
        record.list_failures()
        record.list_views_over_budget()

    def _summaries(self) -> list[JsonDict]:
        """The live compactions that have a summary, each with it."""
        found = [item for item in self.record.compactions if item["live"] and item["reason"] == SUMMARY]
        try:
            return [self.service.compaction(self.record.session_id, item["id"]) for item in found]
        except Refused as refused:
            self._listed(f"the service does not say what its summaries keep: {refused}")
            return []

    def _violated(self, text: str) -> None:
        self.record.violations.append(f"message {self.progress.messages}: {text}")

    def _listed(self, text: str) -> None:
        self.record.listed.append(f"message {self.progress.messages}: {text}")


def _policy_refused(refused: Refused, url: str) -> str:
    remedy = "Give another --policy, or a --compact-threshold above its target"
    return f"the service refuses the policy: {refused.detail}. {remedy}; GET {url}/presets lists its presets"


def _says_something(message: JsonDict) -> bool:
    return message["role"] != "assistant" or bool(message.get("content") or message.get("tool_calls"))


def _unsettled(jobs: list[JsonDict], pending: int) -> str:
    active = [f"{job['id']} is {job['state']}" for job in jobs if job["state"] in ACTIVE]
    failed = [f"{job['id']} failed: {job.get('error')}" for job in jobs if job["state"] == JobState.FAILED]
    return f"{pending} tokens stay pending and no job makes progress ({'; '.join(active or failed[-1:]) or 'no job'})"
