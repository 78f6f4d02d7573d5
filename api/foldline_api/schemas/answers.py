"""Answers: models that describe them in the OpenAPI document. Tests check the real answers against them."""

from __future__ import annotations

from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from foldline.engine.ledger.items import ItemKind, Speaker
from foldline.engine.messages import ROLES
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.recall.visibility import OutOfView
from foldline.log.access.api_keys import KeyScope
from foldline.log.access.audit import AuditedAction
from foldline.log.job_state import JobState
from foldline_api.http.problems import PROBLEM_TYPES

T = TypeVar("T")
NAMES: Final = ", ".join(sorted({kind.name for kind in PROBLEM_TYPES.values()}))
LEVELS: Final = ", ".join(dict.fromkeys(level.name for layout in LAYOUTS.values() for level in layout.levels))


class ResponseModel(BaseModel):
    """Root of the answers."""

    # Answers are only described: their schemas are built for the OpenAPI document alone.
    model_config = ConfigDict(extra="forbid", defer_build=True)


class Problem(BaseModel):
    """A problem document (RFC 9457). The last segment of `type` is the problem's name. Some types have more fields."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description=f"`/problems/` and one of {NAMES}.", examples=["/problems/invalid-request"])
    title: str
    status: int
    detail: str


class Page(ResponseModel, Generic[T]):
    """A page of a list, oldest first. `next_cursor` is the `cursor` of the next page, null on the last one."""

    items: list[T]
    next_cursor: str | None


class CallBudgetAnswer(ResponseModel):
    """A budget and how much of it a call takes, in tokens."""

    limit: int
    used: int
    fits: bool
    breakdown: dict[str, int]


class BudgetAnswer(CallBudgetAnswer):
    """A budget and how much of it a view takes: in tokens, in images, and in bytes of their base64.

    The images are null if they are not counted yet, as after an undo.
    """

    images: int | None
    image_bytes: int | None


class ReportAnswer(ResponseModel):
    """Figures of a compaction that the policy's `report` adds. Tokens are of the history, in the policy's count."""

    original_count: int | None = Field(None, description="Messages in the view before.")
    final_count: int | None = Field(None, description="Messages in the view after, with summaries and markers.")
    original_tokens: int | None = None
    final_tokens: int | None = None
    tier: Literal[0, 1, 2, 3, 4] | None = Field(
        None,
        description="0: nothing was done. 1: results were replaced or cut. 2: a summary was requested, or a model's "
        "summary was published. 3: that summary covers only a part of what was due. 4: no model was used.",
    )
    warning_level: str | None = Field(None, description="The highest level of use that was reached before, or `none`.")
    files_deduped: int | None = Field(None, description="Files whose older reads became pointers.")
    messages_removed: int | None = Field(None, description="Messages that were put out of view without a summary.")


class SessionAnswer(ResponseModel):
    """A session."""

    id: str
    version: int
    model: str
    context_window: int
    max_output_tokens: int | None
    system: str | None
    tools: list[dict[str, Any]]
    policy: dict[str, Any]
    auto_compact: bool
    retention_days: int | None = Field(description="Its own; null is as long as the service keeps sessions.")
    message_count: int
    multiplier: float = Field(description="How many tokens the provider counts for one that Foldline counts.")
    budget: BudgetAnswer
    created_at: str


class StepAnswer(ReportAnswer):
    """What the trigger did after a change. `id` is null if it only queued the job `job_id`."""

    id: str | None = Field(description="The newest of `ids`.")
    ids: list[str] = Field(description="The compactions that were made, oldest first.")
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    job_id: str | None


class NotCompactedAnswer(ResponseModel):
    """Why a view over the trigger, or what is hidden and not yet summarized, led to neither a compaction nor a job.

    `barred`: an undo keeps automatic compactions away. `recent`: what could go is kept recent. `open_calls`: it waits
    for results. `tool_loop`: it waits for the end of a tool loop, whose signed reasoning it would take. `too_little`:
    it would save less than the policy's minimum. `held_back`: a summary failed, and automatic jobs may run again at
    `until`. `too_many_jobs`: the tenant has as many jobs as it may; the next try is at `until`. `no_room`: a finished
    summary does not fit. `switched_off`: `auto_compact` is false.
    """

    reason: Literal[
        "barred",
        "recent",
        "open_calls",
        "tool_loop",
        "too_little",
        "held_back",
        "too_many_jobs",
        "no_room",
        "switched_off",
    ]
    until: str | None


class ChangedSession(SessionAnswer):
    """A session after a change."""

    compaction: StepAnswer | None
    not_compacted: NotCompactedAnswer | None


class AppendAnswer(ResponseModel):
    """The new entries, and the session after the append."""

    entry_ids: list[str]
    version: int
    budget: BudgetAnswer
    open_calls: list[str]
    compaction: StepAnswer | None
    not_compacted: NotCompactedAnswer | None


class ReasoningAnswer(ResponseModel):
    """The signed reasoning of a view: the number of parts shown, and of parts left out by reason.

    Both are of the view in the format that the reasoning came in; what other formats cannot carry is in `lossy`. A
    provider refuses it once something before it has changed: `compacted` by an edit, `fixed_parts` by another model,
    system prompt, tools or pins; `refused` if the caller reported that. `unknown_view`: a summary was published while
    the model worked, and the append did not say by `usage.version` which view the model had. `alone`: the message has
    nothing else, which no provider takes.
    """

    shown: int
    left_out: dict[str, int]


class ContextAnswer(ResponseModel):
    """A view in a wire format. `lossy` counts the parts that this format cannot represent exactly.

    A provider takes a request with these messages only with the `request_headers`; there are some after its own
    compaction.
    """

    messages: list[dict[str, Any]]
    system: str | None
    budget: BudgetAnswer
    version: int
    lossy: int
    open_calls: list[str]
    reasoning: ReasoningAnswer
    request_headers: dict[str, str]


class ResultAnswer(ReportAnswer):
    """What compactions did to the view."""

    compacted: bool
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    tokens_saved: int


class JobAnswer(ResponseModel):
    """A job and its progress."""

    id: str
    session_id: str
    state: JobState
    kind: str
    progress: float
    attempts: int
    error: str | None
    waits_for: str | None = Field(
        description="The summarizer that a queued job waits for, because it failed too often to be called now."
    )
    usage: dict[str, int] | None
    degraded: bool
    summarizer: str | None = Field(description="Who wrote the summary: a summarizer, a provider, or a hook.")
    declined: str | None = Field(description="Why the model's provider did not write it, if it was asked.")
    compaction_id: str | None
    entry_id: str | None = Field(description="The entry with the summary, for the job of a branch summary.")
    result: ResultAnswer | None = Field(description="What the job's compaction did to the view.")
    superseded_by: str | None
    created_at: str
    ended_at: str | None


class PlannedSummaryAnswer(ResponseModel):
    """A summary that would be made, in one job or several: its entries, and how many messages it would cover."""

    first_entry_id: str
    last_entry_id: str
    messages: int


class CutAnswer(ResponseModel):
    """The messages that summaries would cover, and the entry at the cut, which would stay as it is."""

    first_entry_id: str | None
    first_kept_entry_id: str | None
    turn_start_entry_id: str | None = Field(description="The first entry of the turn that would be split.")
    is_split_turn: bool
    messages: int = Field(description="Messages to summarize, without the beginning of a split turn.")
    turn_prefix_messages: int = Field(description="Messages to summarize of the beginning of a split turn.")
    summaries: list[PlannedSummaryAnswer] = Field(
        description="Each is a compaction of its own: two where the turn of the last user message would be split. "
        "That message stays between them."
    )
    replaces: list[str] = Field(description="The summaries that would be replaced.")
    context_tokens: int = Field(description="Tokens of the view, in the policy's count or as a provider reported them.")
    read_files: list[str]
    modified_files: list[str]


class TargetAnswer(ResponseModel):
    """The target of a request that names one, and whether the view reaches it now."""

    tokens: int
    least_tokens: int = Field(
        description="No compaction brings the view below this: system prompt, tools, pins, the last user message, and "
        "calls that are open."
    )
    reached: bool


class CompactAnswer(ResponseModel):
    """What was compacted at once, and the job of the summary."""

    job: JobAnswer | None
    joined: bool = Field(description="Whether the job existed before the request.")
    result: ResultAnswer
    target: TargetAnswer | None = Field(description="Only of a request with `target_tokens`.")
    not_compacted: NotCompactedAnswer | None
    summary: CutAnswer | None = Field(
        None, description="For a `dry_run` that would request a summary: what that would cover."
    )


class VerdictAnswer(ResponseModel):
    """What the provider's error means. Tokens are the provider's."""

    is_overflow: bool
    is_too_large: bool = Field(description="Whether the request has too many bytes or images, whatever its tokens.")
    is_reasoning_refused: bool = Field(description="Whether the provider refuses signed reasoning in the view.")
    provider: str | None
    actual_tokens: int | None = Field(description="Tokens of the input, if the error separates them from the output.")
    limit_tokens: int | None
    retryable: bool = Field(description="Whether a smaller view, or one without that reasoning, can help.")


class OverflowAnswer(ResponseModel):
    """What the provider's error means, and what was compacted."""

    verdict: VerdictAnswer
    result: ResultAnswer
    target: TargetAnswer | None = Field(description="What the view was brought down to, as far as it could be.")
    version: int


class PrefixPriceAnswer(ResponseModel):
    """What a compaction costs once, and what it saves in each later call. Dollars are null if no price is known."""

    rewritten_tokens: int = Field(description="Tokens from the first edited place on, which the cache lacks then.")
    saved_tokens: int = Field(description="Tokens that each later call does not send; they would have been cached.")
    cost_usd: float | None
    saved_usd: float | None


class CompactionAnswer(ReportAnswer):
    """A compaction. Figures of the policy's `report` are of this compaction alone."""

    id: str
    live: bool
    reason: str
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    price: PrefixPriceAnswer | None = Field(description="Null for a compaction of an earlier version or of an import.")
    first_kept_entry_id: str | None = Field(description="For a summary: the first entry after those that it covers.")
    details: dict[str, Any] | None = Field(
        description="For a summary: `read_files` and `modified_files` of all that it covers, and what a hook added."
    )
    from_hook: str | None = Field(description="The hook that wrote the summary.")


class SummaryLineAnswer(ResponseModel):
    """A line of a summary."""

    text: str = Field(description="The line as it stands in the summary, without its bullet.")
    kind: str = Field(description="The kind of its item, such as `rule`, `request`, `decision`, `call` or `failure`.")
    entry_id: str = Field(description="The newest entry that says it.")


class ItemsAnswer(ResponseModel):
    """The items of one kind in all that a summary covers."""

    kept: int = Field(description="Lines of the summary.")
    recallable: int = Field(description="Found, but not in the summary.")
    replaced: int = Field(description="Older values, which newer items replaced.")


class CompactionWithSummaryAnswer(CompactionAnswer):
    """A compaction with its summary; `summary`, `lines` and `kinds` are null for one without a summary."""

    summary: str | None = Field(description="The summary's text.")
    in_view: bool = Field(description="Whether the view has this summary, and no other in its place.")
    lines: list[SummaryLineAnswer] | None = Field(
        description="The summary's lines that say what Foldline found, in its order; lines of a model's or a hook's "
        "own are not among them. Null if a provider or an earlier version wrote the summary."
    )
    kinds: dict[str, ItemsAnswer] | None = Field(description="The items by kind; null where `lines` is.")


class UndoneAnswer(ResponseModel):
    """The compactions that the undo took back."""

    undone: list[str]
    version: int


class RedoneAnswer(ResponseModel):
    """The compactions that the redo restored."""

    redone: list[str]
    version: int


class MovedAnswer(ResponseModel):
    """The session after the move."""

    version: int
    budget: BudgetAnswer
    open_calls: list[str]
    compaction: StepAnswer | None
    not_compacted: NotCompactedAnswer | None
    job: JobAnswer | None = Field(description="The job of the branch summary.")
    summary_entry_id: str | None = Field(description="The entry with the branch summary, if it was added at once.")


class StatsAnswer(ResponseModel):
    """How much of its budget a view takes."""

    estimated_input_tokens: int
    available_input_tokens: int
    usage_ratio: float = Field(
        description="The share of the room that the view takes, by the policy's own count; by the exact one if the "
        "view does not fit and that is more."
    )
    trigger_ratio: float = Field(description="The `usage_ratio` above which the session compacts.")
    within_budget: bool
    should_compact: bool = Field(description="Whether `usage_ratio` is over `trigger_ratio`, or the view does not fit.")
    counted_tokens: int = Field(
        description="Tokens of the history (without system prompt, tools and pins) in the policy's own count, like "
        "`trigger_tokens` and `target_tokens`."
    )
    trigger_tokens: int | None = Field(
        description="Null, like `target_tokens`, if that count leaves no room for a history; then the budget decides."
    )
    target_tokens: int | None
    warning_level: str = Field(
        description="The highest level of use in the policy's `layout` that the view reaches, or `none`. Levels: "
        f"{LEVELS}."
    )
    message_count: int
    pending_tokens: int = Field(description="Tokens that are out of view and that no summary covers yet.")
    breakdown: dict[str, int]


class PlacedAnswer(ResponseModel):
    """How much of a file to send."""

    path: str
    action: Literal["keep", "truncate", "preview", "exclude"]
    max_chars: int
    tokens: int


class PendingAnswer(StatsAnswer):
    """How much of its budget the next call would take."""

    files: list[PlacedAnswer]


class EntryAnswer(ResponseModel):
    """An entry. A message is as it was appended, even if compactions changed it in the view."""

    id: str
    kind: Literal["message", "compaction", "undo", "redo", "branch_summary", "other"]
    parent_id: str | None = Field(description="The entry before it.")
    format: str | None
    message: Any = Field(None, description="The message. For kind `other`, the object in the imported file.")
    summary: str | None = Field(None, description="The text that a compaction or branch summary shows in the view.")
    details: dict[str, Any] | None = Field(None, description="For such a summary: `read_files` and `modified_files`.")
    from_hook: str | None = Field(None, description="The hook that wrote that summary.")
    left_entry_id: str | None = Field(
        None, description="For a branch summary: the last entry of the branch that the head left."
    )
    tags: dict[str, Any]
    created_at: str


class BranchAnswer(ResponseModel):
    """A branch. Moving to its `leaf_entry_id` makes it the branch in use."""

    leaf_entry_id: str | None
    left_entry_id: str | None = Field(description="The entry of another branch after which this one begins.")
    message_count: int
    is_head: bool


class KeyAnswer(ResponseModel):
    """A stored API key. The key itself begins with its `id`."""

    id: str
    name: str
    scopes: list[KeyScope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    used_at: str | None = Field(description="When it was last used, to an hour.")


class NewKeyAnswer(KeyAnswer):
    """A new API key."""

    key: str | None = Field(description="The key, which is shown only here. Null if this repeats an earlier answer.")


class DeletedTenant(ResponseModel):
    """What was deleted of a tenant."""

    sessions: int
    keys: int = Field(description="Stored keys that were revoked.")


class AuditAnswer(ResponseModel):
    """A line of the audit trail."""

    created_at: str
    actor: str = Field(
        description="The id of a stored key, or `environment` for a key of FOLDLINE_API_KEYS, `local` for a service "
        "without keys, `command` for the operator."
    )
    action: AuditedAction
    session_id: str | None
    object_id: str | None = Field(description="What it was done to: a compaction, entry, pin, job or key.")


class ImportedAnswer(ResponseModel):
    """An imported session, and how many entries of each kind it has."""

    session: SessionAnswer
    entries: int
    messages: int
    branches: int
    compactions: int


class PinAnswer(ResponseModel):
    """A pin."""

    id: str
    text: str
    created_at: str


class PinnedAnswer(PinAnswer):
    """A new pin."""

    version: int
    compaction: StepAnswer | None
    not_compacted: NotCompactedAnswer | None


class LedgerItemAnswer(ResponseModel):
    """What one entry says that must survive."""

    id: str
    kind: ItemKind
    text: str
    speaker: Speaker = Field(description="Who said it. Only users make rules and requests; tools are quoted.")
    state: str | None = Field(description="Of a step of a plan `doing` or `open`, of a request `later`; else null.")
    entry_id: str
    is_dismissed: bool = Field(description="Whether later summaries leave it out.")


class PricesAnswer(ResponseModel):
    """What the model's provider asks, in US dollars for a million tokens; null where it is not known."""

    input: float | None
    cached_input: float | None = Field(description="For input that is read from the provider's prompt cache.")
    cache_write: float | None = Field(description="For input that is written to that cache; null if it costs no more.")
    output: float | None


class ModelAnswer(ResponseModel):
    """A model. Some presets list the beginning of a name, match any provider, or match a word in the name."""

    model: str
    context_window: int = Field(description="The context window that a session gets.")
    listed_window: int | None = Field(
        description="The window in the system that the preset follows. Foldline's own window, if it has one, is used."
    )
    is_exact: bool = Field(description="Whether Foldline has the model's tokenizer, so that no margin is needed.")
    source: str = Field(description="Where Foldline's window is from, with its date; empty for a `listed_window`.")
    prices: PricesAnswer | None = Field(description="The prices of short requests; null if none is known.")
    limit: int = Field(description="The most tokens of a view, counted exactly.")
    trigger_tokens: int = Field(description="In the preset's count, like `target_tokens`.")
    target_tokens: int


class PresetAnswer(ResponseModel):
    """A preset: a policy with a name."""

    model_config = ConfigDict(extra="allow")

    preset: str
    trigger: float
    target: float
    stages: list[dict[str, Any]]


class StatelessCompactAnswer(ResultAnswer):
    """Compacted messages."""

    messages: list[dict[str, Any]]
    target: TargetAnswer | None = Field(description="Only of a request with `target_tokens`.")
    budget: CallBudgetAnswer
    orphaned_calls_fixed: int = Field(description="Calls without a result, which got a stub.")
    orphaned_results_fixed: int = Field(description="Results without a call, which are quoted as text.")
    images_left_out: int


class StatelessBudgetAnswer(CallBudgetAnswer):
    """How much of a model's budget a call takes."""

    files: list[PlacedAnswer]


class HealthAnswer(ResponseModel):
    """The process answers."""

    status: Literal["ok"]


class ReadyAnswer(ResponseModel):
    """Whether the service can serve requests (`degraded`: yes, but summaries wait), and the state of each part."""

    status: Literal["ok", "degraded", "unavailable"]
    database: str
    broker: str


class SourceAnswer(ResponseModel):
    """A text, who said it, and the entry that has it; `tool` is the tool whose result it is."""

    entry_id: str
    said_by: str = Field(description=f"{', '.join(ROLES)}; or summary, for that of another branch.")
    tool: str | None
    text: str


class PassageAnswer(SourceAnswer):
    """A passage that is out of view, and why.

    `kind` is that of the ledger's item that it is, null if all that was said was searched. `before` is what explains
    it: the question before an answer, the call before its result. `after` is what answers it: the reply to a question,
    the first result of a call.
    """

    out_of_view: OutOfView
    kind: ItemKind | None
    before: SourceAnswer | None
    after: SourceAnswer | None


class RecallAnswer(ResponseModel):
    """What was found, best first. `text` quotes all of it with its sources, in `tokens` tokens.

    `is_complete` is false while entries of the session are not indexed. Each request indexes more of them; messages of
    more than 8 MiB wait for the sweep.
    """

    items: list[PassageAnswer]
    text: str
    tokens: int
    is_complete: bool


class RecallToolAnswer(ResponseModel):
    """The definition of the tool, or the message with the result of a call of it; the other one is null."""

    tool: dict[str, Any] | None
    result: dict[str, Any] | None
