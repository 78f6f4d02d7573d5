"""A session and one of its paths, as loaded for a transaction, and the budget, goals and aims that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from foldline.engine.images.in_messages import Images
from foldline.engine.messages import JsonObject
from foldline.engine.models.budget import Budget, Goals
from foldline.engine.models.gauge import Fixed, Frame, Gauge
from foldline.engine.models.limits import ImageLimits, limits_of
from foldline.engine.models.windows import Known, known_model
from foldline.engine.planning.batches import Tail
from foldline.engine.policies.policy import Policy, from_stored
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import scaled, unscaled
from foldline.engine.tokens.estimates import EXACT
from foldline.engine.tokens.measures import exact_measure
from foldline.engine.wire import loads
from foldline.engine.wording import stub_tokens

PARTS: Final = ("system", "tools", "pins", "history")


class SessionVersion(NamedTuple):
    """A version of a session. One that was deleted is another one than a new one of its id, or of its number."""

    session_pk: int
    created_at: int
    version: int


@dataclass(slots=True)
class Session:
    """A session's row, loaded for a transaction.

    `multiplier` is in thousandths. `head` is the number of the branch in use, and `branches` how many there are. The
    token columns are unscaled; `fixed_tokens` is the system prompt with the tools. `retention_days` are its own.
    """

    pk: int
    tenant: str
    id: str
    model: str
    context_window: int | None
    max_output_tokens: int | None
    auto_compact: bool
    head: int
    branches: int
    version: int
    multiplier: int
    fixed_tokens: int
    tools_tokens: int
    pins_tokens: int
    created_at: int
    retention_days: int | None
    policy_json: bytes
    system_json: bytes | None
    tools_json: bytes

    @property
    def at(self) -> SessionVersion:
        """Its version as it was loaded, or after the last change."""
        return SessionVersion(self.pk, self.created_at, self.version)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return _policy(self.policy_json)

    @property
    def system(self) -> str | None:
        """The system prompt."""
        return None if self.system_json is None else loads(self.system_json)

    @property
    def tools(self) -> list[JsonObject]:
        """The tool definitions."""
        tools: list[JsonObject] = loads(self.tools_json)
        return tools

    @property
    def budget(self) -> Budget:
        """The budget of the session's model under its policy."""
        return self.frame.budget(self.policy)

    @property
    def image_limits(self) -> ImageLimits:
        """The most images that a view for the session's model may have."""
        return limits_of(self.model).for_images(self.budget.window)

    @property
    def frame(self) -> Frame:
        """The model, window and output reserve, from which a policy makes the budget."""
        return Frame(self.model, self.context_window, self.max_output_tokens)

    @property
    def overhead_tokens(self) -> int:
        """The unscaled tokens of system prompt, tools and pins."""
        return self.fixed_tokens + self.pins_tokens

    def fixed(self, kept_free: int = 0) -> Fixed:
        """The fixed parts of every view, with `kept_free` tokens added to them."""
        return Fixed(self.system, self.tools_json, self.pins_tokens + kept_free)

    def used(self, history_tokens: int) -> int:
        """The scaled tokens of a view whose history takes `history_tokens`, unscaled."""
        return scaled(history_tokens + self.overhead_tokens, self.multiplier)

    def frame_for(self, model: str | None = None, max_output_tokens: int | None = None) -> Frame:
        """The frame of another model or output reserve; values not given are the session's."""
        output = max_output_tokens or self.max_output_tokens
        return Frame(self.model, self.context_window, output) if model is None else Frame(model, None, output)


class Aims(NamedTuple):
    """A policy, its goals by the exact count, and the gauge of the policy's own count."""

    policy: Policy
    goals: Goals
    gauge: Gauge


class NotCompacted(NamedTuple):
    """A trigger run that led to nothing: its reason, and the state of the path that it saw.

    `tokens` are those of the view's history by the policy's count. `open_unit` is the seq of the batch that was open, 0
    if none was. `until` is when automatic jobs may run again, if that is the reason.
    """

    reason: str
    tokens: int
    edits_at: tuple[int, int] | None
    open_unit: int = 0
    until: int | None = None


@dataclass(slots=True)
class Path:
    """A branch and the state at its leaf, loaded for a transaction.

    `kept` and `raw` are the unscaled tokens of the history with and without edits. `edits_at` is the branch and seq of
    the newest compaction, undo or redo. `estimated` are the history's tokens by the policy's counter; None if they are
    not known, or if that counter is the exact one. `reported` is a provider's count of the whole view up to the entry
    `reported_seq`; None once the view was edited. `images` are those in view, None if they are not known.
    `next_summary_at` is when automatic jobs may run again. `not_compacted` is the last trigger run, if it did nothing.
    """

    session: Session
    branch: int
    parent: int | None
    left_seq: int
    leaf_seq: int
    last_message_seq: int
    messages: int
    kept: int
    raw: int
    pending_tokens: int
    edits_at: tuple[int, int] | None
    tail: Tail
    next_summary_at: int
    failures: int
    estimated: int | None
    reported: int | None
    reported_seq: int
    images: Images | None
    not_compacted: NotCompacted | None

    @property
    def used(self) -> int:
        """The scaled tokens of the view at the leaf."""
        return self.session.used(self.kept)

    @property
    def open_calls(self) -> list[str]:
        """The ids of the tool calls that wait for a result."""
        return [call.id for call in self.tail.open_calls]

    @property
    def open_unit(self) -> int:
        """The seq of the open batch; 0 if no call waits for a result."""
        return self.tail.unit if self.tail.open_calls else 0

    @property
    def is_in_tool_loop(self) -> bool:
        """Whether the last message makes calls or is a result, so that the assistant's answer is still to come."""
        return bool(self.tail.open_calls) or self.tail.unit != self.last_message_seq

    @property
    def counted(self) -> int:
        """The unscaled tokens of the history by the policy's counter, as far as it is known, else by the exact one."""
        return self.kept if self.estimated is None else self.estimated

    def breakdown(self, used: int | None = None) -> dict[str, int]:
        """The scaled tokens of system, tools, pins and history, which add up to `used` (by default the view's)."""
        session = self.session
        system = session.fixed_tokens - session.tools_tokens
        fixed = accumulate((system, session.tools_tokens, session.pins_tokens), initial=0)
        ends = [*(scaled(tokens, session.multiplier) for tokens in fixed), self.used if used is None else used]
        return {name: end - start for name, (start, end) in zip(PARTS, pairwise(ends), strict=True)}

    def goals(self, policy: Policy | None = None) -> Goals:
        """The trigger, target and limit by the exact count, with room kept for the stubs of open calls."""
        return self._goals(policy or self.session.policy, self.session.frame)

    def aims(
        self,
        policy: Policy | None = None,
        target_tokens: int | None = None,
        frame: Frame | None = None,
        asked_at: int | None = None,
    ) -> Aims:
        """The aims of a compaction. A policy or frame that is not given is the session's.

        `target_tokens`, scaled tokens of the whole view, replaces the policy's target. Without one, the target of a
        compaction that a caller asked for depends on the unscaled tokens of the history `asked_at`.
        """
        session = self.session
        policy, frame = policy or session.policy, frame or session.frame
        goals = self._goals(policy, frame)
        if target_tokens is not None:
            goals = goals.aiming_at(unscaled(target_tokens, session.multiplier) - session.overhead_tokens)
        elif asked_at is not None:
            goals = goals.when_asked(asked_at)
        if policy.counter == EXACT:
            return Aims(policy, goals, Gauge(exact_measure(), goals))
        return Aims(policy, goals, frame.gauge(policy, goals, session.fixed(self._kept_free)))

    def _goals(self, policy: Policy, frame: Frame) -> Goals:
        session = self.session
        fixed_tokens = session.overhead_tokens + self._kept_free
        if policy is session.policy:
            known = known_model(session.model)
            return _own_goals(session.policy_json, frame, fixed_tokens, session.multiplier, known)
        return frame.goals(policy, fixed_tokens, session.multiplier)

    @property
    def _kept_free(self) -> int:
        return stub_tokens() * len(self.tail.open_calls)


@lru_cache(maxsize=256)
def _policy(policy_json: bytes) -> Policy:
    """The policy of a session's row; cached, because few differ."""
    return from_stored(loads(policy_json), PRESETS)


@lru_cache(maxsize=1024)
def _own_goals(policy_json: bytes, frame: Frame, fixed_tokens: int, multiplier: int, _known: Known | None) -> Goals:
    """The goals under the policy of a session's row; cached, because they are the same from one append to the next.

    `_known` is what is known of the model, on which the window and the prices depend.
    """
    return frame.goals(_policy(policy_json), fixed_tokens, multiplier)
