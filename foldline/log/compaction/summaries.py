"""Summaries as they are kept: found again by what they were made of, so that nobody pays for the same one twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Boolean, bindparam, insert, or_, select, update

from foldline.engine.files import Files
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.presets import DEFAULT_PRESET
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import summary_frame_tokens, summary_tokens
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import SUMMARY

_COLUMNS: Final = (
    SUMMARY.c.id,
    SUMMARY.c.tokens,
    SUMMARY.c.is_degraded,
    SUMMARY.c.model,
    SUMMARY.c.summarizer,
    SUMMARY.c.details,
)
KEPT: Final = select(*_COLUMNS).where(
    SUMMARY.c.session_pk == bindparam("pk"),
    SUMMARY.c.key == bindparam("wanted"),
    SUMMARY.c.tokens <= bindparam("most"),
    or_(bindparam("takes_degraded", type_=Boolean), SUMMARY.c.is_degraded.is_(False)),
)
_SUPPLANT: Final = (
    update(SUMMARY)
    .where(SUMMARY.c.session_pk == bindparam("pk"), SUMMARY.c.key == bindparam("present"))
    .values(key=SUMMARY.c.key + "/" + SUMMARY.c.id)
)
_INSERT: Final = insert(SUMMARY)
_TEXT: Final = select(SUMMARY.c.text).where(SUMMARY.c.id == bindparam("summary"))
_SHOWN: Final = select(SUMMARY.c.id, SUMMARY.c.text, SUMMARY.c.appendix).where(
    SUMMARY.c.id.in_(bindparam("summaries", expanding=True))
)
_DETAILS: Final = select(SUMMARY.c.details).where(SUMMARY.c.id.in_(bindparam("summaries", expanding=True)))
HOOK: Final = "hook "
NO_FILES: Final = Files()


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that is kept.

    `tokens` are what its message takes, unscaled, `model` the one that was asked for it; `details` are what is told of
    it: the files of all it covers, and what a hook told.
    """

    id: str
    tokens: int
    is_degraded: bool = False
    model: str | None = None
    summarizer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_without_model(self) -> bool:
        """Whether no model wrote it."""
        return self.is_degraded or self.model is None

    @property
    def from_hook(self) -> str | None:
        """The hook that supplied it, if one did."""
        return self.summarizer.removeprefix(HOOK) if self.summarizer.startswith(HOOK) else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A summary that is to be made.

    `ends` are the ids of the first and last entry it covers, `key` is what it is found again by, `appendix` what stands
    below it in views.
    """

    covered: SummaryRange
    ends: tuple[str, str]
    key: str
    files: Files = NO_FILES
    appendix: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A summary that was made, now or before, of just what was wanted by an ask."""

    wanted: Wanted
    summary: Summary
    ask: SummaryRequest


def key_of(ends: Sequence[str], replaces: Sequence[str], ask: SummaryRequest, policy: Policy) -> str:
    """What identifies a summary: the entries at its ends, the summaries it replaces, and what was asked of it."""
    shape: list[Any] = [policy.headings, policy.transcript]
    if policy.splits_turns or policy.lists_files:
        shape += [policy.splits_turns, policy.lists_files]
    # Keys from before there was a choice of these have nothing of it.
    asked = [ask.instructions] if shape == [DEFAULT_PRESET] * 2 else [ask.instructions, shape]
    parts = [ends, replaces, *asked]
    if ask.left is not None:
        # Its files are those of all that was left, also of what was not read.
        parts = [ask.kind, ask.left.first, *parts]
    return hashlib.sha256(dumps(parts)).hexdigest()


def kept_key(path: Path, wanted: Wanted, ask: SummaryRequest) -> dict[str, Any]:
    """The parameters of `KEPT`: a summary made of just this that is small enough now."""
    return {
        "pk": path.session.pk,
        "wanted": wanted.key,
        "most": wanted.covered.max_tokens + summary_frame_tokens(),
        # Whoever asks again after a poor summary wants a better one.
        "takes_degraded": not ask.is_asked,
    }


def kept(tx: Transaction, key: dict[str, Any]) -> Summary | None:
    """The summary made of just this before, if it is small enough now."""
    row = tx.execute(KEPT, key).first()
    if row is None:
        return None
    return Summary(row.id, row.tokens, row.is_degraded, row.model, row.summarizer, _loaded(row.details))


def keep(tx: Transaction, path: Path, wanted: Wanted, draft: SummaryDraft, tokens: int | None = None) -> Summary:
    """Keep a text, in place of another one made of the same; `tokens` are what its message takes, if that is known."""
    tx.execute(_SUPPLANT, {"pk": path.session.pk, "present": wanted.key})
    summary = Summary(
        tx.new_id("sum"),
        summary_tokens(with_appendix(draft.text, wanted.appendix)) if tokens is None else tokens,
        draft.degraded,
        draft.model,
        draft.summarizer,
        {**draft.details, **details(wanted.files)},
    )
    row = {
        "id": summary.id,
        "session_pk": path.session.pk,
        "tenant": path.session.tenant,
        "key": wanted.key,
        "tokens": summary.tokens,
        "original_tokens": wanted.covered.original_tokens,
        "summarizer": draft.summarizer,
        "model": draft.model,
        "is_degraded": draft.degraded,
        "created_at": tx.now,
        "usage": dumps(draft.usage),
        "text": dumps(draft.text),
        "details": dumps(summary.details),
        "appendix": dumps(wanted.appendix) if wanted.appendix else None,
    }
    tx.execute(_INSERT, row)
    return summary


def with_appendix(text: str, appendix: str) -> str:
    """A summary as it stands in views."""
    return f"{text}\n\n{appendix}" if appendix else text


def text_of(tx: Transaction, summary_id: str) -> str:
    """The text of a summary, as its summarizer wrote it."""
    text: str = loads(tx.execute(_TEXT, {"summary": summary_id}).one().text)
    return text


def shown_text(tx: Transaction, summary_id: str) -> str:
    """The text of a summary as it stands in views."""
    return shown_texts(tx, [summary_id])[summary_id]


def shown_texts(tx: Transaction, summaries: Sequence[str]) -> dict[str, str]:
    """The texts of summaries as they stand in views, by their ids."""
    rows = tx.execute(_SHOWN, {"summaries": summaries}) if summaries else ()
    return {row.id: with_appendix(loads(row.text), loads(row.appendix) if row.appendix else "") for row in rows}


def files_of(tx: Transaction, summaries: Sequence[str]) -> Files:
    """The files of all that these summaries cover."""
    found = NO_FILES
    for told in tx.execute(_DETAILS, {"summaries": summaries}).scalars() if summaries else ():
        found |= files_from(_loaded(told))
    return found


def _loaded(value: bytes | None) -> dict[str, Any]:
    # Of summaries from before there were details there are none.
    return loads(value) if value else {}


def details(files: Files) -> dict[str, list[str]]:
    """Files as they are told."""
    return {"read_files": files.read_only, "modified_files": files.changed}


def files_from(told: Mapping[str, Any]) -> Files:
    """The files that `details` told of."""
    return Files(frozenset(told.get("read_files", ())), frozenset(told.get("modified_files", ())))
