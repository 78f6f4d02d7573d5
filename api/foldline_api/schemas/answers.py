"""What answers look like, as models: for the API's page, and for tests that hold the answers against them."""

from __future__ import annotations

from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from foldline.engine.policies.layouts import LAYOUTS
from foldline.log.job_state import JobState
from foldline_api.http.problems import PROBLEM_TYPES

T = TypeVar("T")
NAMES: Final = ", ".join(sorted({kind.name for kind in PROBLEM_TYPES.values()}))
LEVELS: Final = ", ".join(dict.fromkeys(level.name for layout in LAYOUTS.values() for level in layout.levels))


class ResponseModel(BaseModel):
    """Root of the answers."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong (RFC 9457); the last segment of `type` is its name, and some types carry further fields."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description=f"One of {NAMES}, after `/problems/`.", examples=["/problems/invalid-request"])
    title: str
    status: int
    detail: str


class Page(ResponseModel, Generic[T]):
    """A page of a list, oldest first; `next_cursor` leads to the next one."""

    items: list[T]
    next_cursor: str | None


class BudgetAnswer(ResponseModel):
    """What a view takes of its budget, in tokens."""

    limit: int
    used: int
    fits: bool
    breakdown: dict[str, int]


class ReportAnswer(ResponseModel):
    """Figures of a compaction that the `report` of a policy adds; tokens are those of the history, by its counter."""

    original_count: int | None = Field(None, description="Messages in view before.")
    final_count: int | None = Field(None, description="Messages in view after, with summaries and markers.")
    original_tokens: int | None = None
    final_tokens: int | None = None
    tier: Literal[0, 1, 2, 3, 4] | None = Field(
        None,
        description="0: nothing was done. 1: results were replaced or cut. 2: a summary was asked for, or one by a "
        "model was published. 3: that is made from a part of what was due. 4: no model had a part in it.",
    )
    warning_level: str | None = Field(None, description="The highest level of use reached before, else `none`.")
    files_deduped: int | None = Field(None, description="Files of which an older read became a pointer.")
    messages_removed: int | None = Field(None, description="Messages put out of view without a summary.")


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
    message_count: int
    multiplier: float = Field(description="Tokens as the provider counts them, for each of ours.")
    budget: BudgetAnswer
    created_at: str


class StepAnswer(ReportAnswer):
    """What a request compacted on the way: `id` is null if it only queued the job `job_id`."""

    id: str | None = Field(description="The newest of `ids`.")
    ids: list[str] = Field(description="The compactions made, oldest first.")
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    job_id: str | None


class ChangedSession(SessionAnswer):
    """A session after a change."""

    compaction: StepAnswer | None


class AppendAnswer(ResponseModel):
    """What an append did."""

    entry_ids: list[str]
    version: int
    budget: BudgetAnswer
    open_calls: list[str]
    compaction: StepAnswer | None


class ContextAnswer(ResponseModel):
    """A view in a wire format; `lossy` counts the parts that the format cannot carry as they were."""

    messages: list[dict[str, Any]]
    system: str | None
    budget: BudgetAnswer
    version: int
    lossy: int
    open_calls: list[str]


class ResultAnswer(ReportAnswer):
    """What a compaction did to the view."""

    compacted: bool
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    tokens_saved: int


class JobAnswer(ResponseModel):
    """A job and how far it is."""

    id: str
    session_id: str
    state: JobState
    kind: str
    progress: float
    attempts: int
    error: str | None
    usage: dict[str, int] | None
    degraded: bool
    compaction_id: str | None
    entry_id: str | None = Field(description="The entry that the summary of a branch became.")
    result: ResultAnswer | None = Field(description="What the compaction it made did to the view.")
    superseded_by: str | None
    created_at: str
    ended_at: str | None


class CutAnswer(ResponseModel):
    """What a summary would cover, in one job or several, and where what stays as it is begins."""

    first_entry_id: str | None
    first_kept_entry_id: str | None
    turn_start_entry_id: str | None = Field(description="Where the turn begins in the middle of which that is.")
    is_split_turn: bool
    messages: int = Field(description="Those to summarize, without the beginning of a split turn.")
    turn_prefix_messages: int = Field(description="Those of the beginning of a split turn.")
    replaces: list[str] = Field(description="The summaries that would be taken up.")
    context_tokens: int = Field(description="What the view takes as the policy counts, or as a provider reported.")
    read_files: list[str]
    modified_files: list[str]


class CompactAnswer(ResponseModel):
    """What was compacted at once, and the job that does the rest."""

    job: JobAnswer | None
    joined: bool = Field(description="Whether the job was there before.")
    result: ResultAnswer
    summary: CutAnswer | None = Field(None, description="Of a `dry_run`: what a summary would be asked for.")


class VerdictAnswer(ResponseModel):
    """What the refusal says; tokens are the provider's."""

    is_overflow: bool
    provider: str | None
    actual_tokens: int | None = Field(description="Tokens of the input, where the text tells them from the output.")
    limit_tokens: int | None
    retryable: bool = Field(description="Whether compacting can help.")


class OverflowAnswer(ResponseModel):
    """What the refusal says, and what was done about it."""

    verdict: VerdictAnswer
    result: ResultAnswer
    version: int


class CompactionAnswer(ReportAnswer):
    """A compaction; what its policy reports tells of this one alone."""

    id: str
    live: bool
    reason: str
    stages_used: list[str]
    tokens_before: int
    tokens_after: int
    first_kept_entry_id: str | None = Field(description="Of one with a summary: the first entry after what it covers.")
    details: dict[str, Any] | None = Field(
        description="Of one with a summary: `read_files` and `modified_files` in all it covers, and what a hook told."
    )
    from_hook: str | None = Field(description="The hook that supplied the summary.")


class UndoneAnswer(ResponseModel):
    """The compactions that were taken back."""

    undone: list[str]
    version: int


class RedoneAnswer(ResponseModel):
    """The compactions that are live again."""

    redone: list[str]
    version: int


class MovedAnswer(ResponseModel):
    """The view at the new head."""

    version: int
    budget: BudgetAnswer
    open_calls: list[str]
    compaction: StepAnswer | None
    job: JobAnswer | None = Field(description="The job that summarizes what was left behind.")
    summary_entry_id: str | None = Field(description="The entry with that summary, if it is there at once.")


class StatsAnswer(ResponseModel):
    """How full a view is."""

    estimated_input_tokens: int
    available_input_tokens: int
    usage_ratio: float
    within_budget: bool
    should_compact: bool = Field(description="`counted_tokens` are over `trigger_tokens`, or the view does not fit.")
    counted_tokens: int = Field(
        description="Tokens of the history (not of system prompt, tools and pins) in the policy's own count, in which "
        "`trigger_tokens` and `target_tokens` are too."
    )
    trigger_tokens: int | None = Field(
        description="Null, like the target, where that count has no room for a history: then only fitting counts."
    )
    target_tokens: int | None
    warning_level: str = Field(
        description="The highest level of use that the policy's `layout` names and the view reaches, else `none`: "
        f"one of {LEVELS}."
    )
    message_count: int
    pending_tokens: int = Field(description="Tokens out of view that no summary covers yet.")
    breakdown: dict[str, int]


class PlacedAnswer(ResponseModel):
    """What to send of a file."""

    path: str
    action: Literal["keep", "truncate", "preview", "exclude"]
    max_chars: int
    tokens: int


class PendingAnswer(StatsAnswer):
    """How full a view would be with a call that is about to be made."""

    files: list[PlacedAnswer]


class EntryAnswer(ResponseModel):
    """An entry; a message as it was appended, whatever became of it in the view."""

    id: str
    kind: Literal["message", "compaction", "undo", "redo", "branch_summary", "other"]
    parent_id: str | None = Field(description="The entry that it was added to.")
    format: str | None
    message: Any = Field(None, description="Of kind `other`, the object that the imported file had.")
    summary: str | None = Field(None, description="What a compaction, or a branch that was left, is in the view.")
    details: dict[str, Any] | None = Field(None, description="Of such a summary: `read_files` and `modified_files`.")
    from_hook: str | None = Field(None, description="The hook that supplied that summary.")
    left_entry_id: str | None = Field(None, description="The last entry of that branch when it was left.")
    tags: dict[str, Any]
    created_at: str


class BranchAnswer(ResponseModel):
    """A branch; moving to its leaf makes it the one in use."""

    leaf_entry_id: str | None
    left_entry_id: str | None = Field(description="Where it left the branch it comes from.")
    message_count: int
    is_head: bool


class ImportedAnswer(ResponseModel):
    """A session that was imported, and how much of each there is in it."""

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


class ModelAnswer(ResponseModel):
    """A model, by the beginning of its name; for some presets that of any provider's, or a word in it."""

    model: str
    context_window: int = Field(description="What a session gets.")
    listed_window: int | None = Field(
        description="What the system that the preset follows has for it; Foldline's own window, if it has one, wins."
    )
    is_exact: bool = Field(description="Whether its own tokenizer is used, so that no margin is needed.")
    limit: int = Field(description="The most a view may take, counted exactly.")
    trigger_tokens: int = Field(description="By the preset's counter, like the target.")
    target_tokens: int


class PresetAnswer(ResponseModel):
    """A policy with a name."""

    model_config = ConfigDict(extra="allow")

    preset: str
    trigger: float
    target: float
    stages: list[dict[str, Any]]


class StatelessCompactAnswer(ResultAnswer):
    """Compacted messages."""

    messages: list[dict[str, Any]]
    budget: BudgetAnswer
    orphaned_calls_fixed: int = Field(description="Calls in view that got a stub, having no result.")
    orphaned_results_fixed: int = Field(description="Results in view that are quoted as text, having no call.")
    images_left_out: int


class StatelessBudgetAnswer(BudgetAnswer):
    """What a call takes of a model's budget."""

    files: list[PlacedAnswer]


class HealthAnswer(ResponseModel):
    """The process answers."""

    status: Literal["ok"]


class ReadyAnswer(ResponseModel):
    """Whether requests can be served (`degraded`: yes, and summaries wait), and of each part `ok` or what is wrong."""

    status: Literal["ok", "degraded", "unavailable"]
    database: str
    broker: str
