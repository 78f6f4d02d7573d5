"""The table of summaries: a finished summary is kept by what it was made of, so that none is paid for twice."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlalchemy import Boolean, bindparam, insert, or_, select, update

from foldline.engine.files import Files
from foldline.engine.ledger import provenance, snapshot
from foldline.engine.ledger.earlier import earlier_items
from foldline.engine.ledger.items import ItemAt
from foldline.engine.ledger.provenance import Provenance
from foldline.engine.models.compactors import compactor_of
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.planning.interim import Interim
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.presets import DEFAULT_PRESET
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.summaries.provider_block import Beginning, ProviderBlock, block_from_json, block_to_json
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
    SUMMARY.c.block.is_not(None).label("has_block"),
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
_WITH_KEY: Final = select(SUMMARY.c.id).where(
    SUMMARY.c.session_pk == bindparam("pk"), SUMMARY.c.key == bindparam("wanted")
)
_TEXT: Final = select(SUMMARY.c.text).where(SUMMARY.c.id == bindparam("summary"))
_SHOWN: Final = select(SUMMARY.c.id, SUMMARY.c.text, SUMMARY.c.appendix, SUMMARY.c.block).where(
    SUMMARY.c.id.in_(bindparam("summaries", expanding=True))
)
_LEDGERS: Final = select(SUMMARY.c.id, SUMMARY.c.text, SUMMARY.c.ledger).where(
    SUMMARY.c.id.in_(bindparam("summaries", expanding=True))
)
_PROVENANCE: Final = select(SUMMARY.c.provenance).where(SUMMARY.c.id == bindparam("summary"))
_STORY: Final = select(SUMMARY.c.text, SUMMARY.c.provenance, SUMMARY.c.summarizer).where(
    SUMMARY.c.id == bindparam("summary")
)
BULLET: Final = "- "
_DETAILS: Final = select(SUMMARY.c.details).where(SUMMARY.c.id.in_(bindparam("summaries", expanding=True)))
HOOK: Final = "hook "
# What writes interim summaries.
LEDGER: Final = "ledger"
NO_FILES: Final = Files()


@dataclass(frozen=True, slots=True)
class Summary:
    """A kept summary.

    `tokens` is the unscaled count of its message in a view. `model` is the model that was called for it. `details` has
    the files of all that it covers, and what a hook added. It `has_block` if the model's own provider wrote it.
    """

    id: str
    tokens: int
    is_degraded: bool = False
    model: str | None = None
    summarizer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    has_block: bool = False

    @property
    def is_without_model(self) -> bool:
        """Whether its text was written without a model."""
        return self.is_degraded or self.model is None

    @property
    def from_hook(self) -> str | None:
        """The name of the hook that supplied it, if one did."""
        return self.summarizer.removeprefix(HOOK) if self.summarizer.startswith(HOOK) else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A summary to be made.

    `ends` are the ids of the first and last entry it covers. `key` identifies it among the kept ones. `appendix` is the
    text that views show below it. `dismissed` are the keys of what it leaves out. If the model's own provider is to
    write it, `by_provider` is the beginning of a view that it stands for.
    """

    covered: SummaryRange
    ends: tuple[str, str]
    key: str
    files: Files = NO_FILES
    appendix: str = ""
    dismissed: frozenset[str] = frozenset()
    by_provider: Beginning | None = None


class Shown(NamedTuple):
    """A summary as views show it: its text with its appendix, and the block of the provider that wrote it, if any."""

    text: str
    block: ProviderBlock | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A finished summary, new or kept, with the request it answers."""

    wanted: Wanted
    summary: Summary
    request: SummaryRequest


def key_of(
    ends: Sequence[str],
    replaces: Sequence[str],
    request: SummaryRequest,
    policy: Policy,
    by_provider: Beginning | None = None,
    *,
    dismissed: Collection[str] = (),
) -> str:
    """The key of a summary: a hash of the ids at its ends, the summaries it replaces, and the request's parameters.

    `dismissed` are the keys of what it leaves out.
    """
    shape: list[Any] = [policy.headings, policy.transcript]
    if policy.splits_turns or policy.lists_files:
        shape += [policy.splits_turns, policy.lists_files]
    # Keys written before a policy could choose these do not have them.
    parameters = [request.instructions] if shape == [DEFAULT_PRESET] * 2 else [request.instructions, shape]
    parts = [ends, replaces, *parameters]
    if request.left is not None:
        # The lists of files depend on the whole left range, also on the part that is not read.
        parts = [request.kind, request.left.first, *parts]
    if by_provider is not None:
        parts.append(by_provider)
    if dismissed:
        parts.append(sorted(dismissed))
    return hashlib.sha256(dumps(parts)).hexdigest()


def kept_key(path: Path, wanted: Wanted, request: SummaryRequest) -> dict[str, Any]:
    """The parameters of `KEPT` for this summary: its key, and the size it may have now."""
    return {
        "pk": path.session.pk,
        "wanted": wanted.key,
        "most": wanted.covered.max_tokens + summary_frame_tokens(),
        # A request for a summary after a degraded one is for a better one.
        "takes_degraded": not request.is_asked,
    }


def kept(tx: Transaction, key: dict[str, Any]) -> Summary | None:
    """The kept summary with this key, if there is one and it is small enough now."""
    row = tx.execute(KEPT, key).first()
    if row is None:
        return None
    facts = (row.model, row.summarizer, _loaded(row.details), bool(row.has_block))
    return Summary(row.id, row.tokens, row.is_degraded, *facts)


def keep(
    tx: Transaction,
    path: Path,
    wanted: Wanted,
    draft: SummaryDraft,
    tokens: int | None = None,
    *,
    ledger: Iterable[ItemAt] | None = None,
) -> Summary:
    """Store a summary, in place of a kept one with the same key; `tokens` are counted if they are None.

    `ledger` is the snapshot of the items of all it covers; None if its text is all that is known.
    """
    tx.change(_SUPPLANT, {"pk": path.session.pk, "present": wanted.key})
    block = _block_of(wanted, draft)
    summary = Summary(
        tx.new_id("sum"),
        tokens_of(wanted, draft) if tokens is None else tokens,
        draft.degraded,
        draft.model,
        draft.summarizer,
        {**draft.details, **details(wanted.files)},
        block is not None,
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
        "block": None if block is None else dumps(block_to_json(block)),
        "ledger": None if ledger is None else dumps(snapshot.to_json(ledger)),
        "provenance": None if draft.provenance is None else dumps(provenance.to_json(draft.provenance)),
    }
    tx.change(_INSERT, row)
    return summary


def keep_interim(tx: Transaction, path: Path, interim: Interim) -> str:
    """Store an interim summary, unless the session has the same already: its id.

    The ids of its summaries show whether a view is as it was before.
    """
    ledger = dumps(snapshot.to_json(interim.items))
    key = hashlib.sha256(dumps([LEDGER, interim.text]) + ledger).hexdigest()
    known: str | None = tx.execute(_WITH_KEY, {"pk": path.session.pk, "wanted": key}).scalar()
    if known is not None:
        return known
    name = tx.new_id("interim")
    row = {
        "id": name,
        "session_pk": path.session.pk,
        "tenant": path.session.tenant,
        "key": key,
        "tokens": interim.tokens,
        "original_tokens": 0,
        "summarizer": LEDGER,
        "model": None,
        "is_degraded": False,
        "created_at": tx.now,
        "usage": dumps({}),
        "text": dumps(interim.text),
        "details": dumps({}),
        "appendix": None,
        "block": None,
        "ledger": ledger,
        "provenance": None if interim.provenance is None else dumps(provenance.to_json(interim.provenance)),
    }
    tx.change(_INSERT, row)
    return name


def tokens_of(wanted: Wanted, draft: SummaryDraft) -> int:
    """The unscaled tokens that a summary takes in any view, as text or as a provider's block."""
    text, block = summary_tokens(with_appendix(draft.text, wanted.appendix)), _block_of(wanted, draft)
    return text if block is None else max(text, block.tokens)


def _block_of(wanted: Wanted, draft: SummaryDraft) -> ProviderBlock | None:
    """The block of a summary that the session's own provider wrote; None for any other."""
    compactor = compactor_of(wanted.by_provider.model) if wanted.by_provider else None
    if compactor is None or wanted.by_provider is None or not draft.block:
        return None
    return ProviderBlock(compactor.format, draft.block, wanted.by_provider)


def with_appendix(text: str, appendix: str) -> str:
    """The text of a summary as views show it."""
    return f"{text}\n\n{appendix}" if appendix else text


def text_of(tx: Transaction, summary_id: str) -> str:
    """The text of a summary as its summarizer wrote it, without its appendix."""
    text: str = loads(tx.execute(_TEXT, {"summary": summary_id}).one().text)
    return text


def story_of(tx: Transaction, summary_id: str) -> str:
    """The lines of a summary that were not made of the ledger, with their headings; empty if there are none."""
    row = tx.execute(_STORY, {"summary": summary_id}).one()
    if row.provenance is None:
        # A hook's; a model's from before provenance was kept has lines of both.
        return loads(row.text) if row.summarizer.startswith(HOOK) else ""
    made = {line.text for line in provenance.from_json(loads(row.provenance)).lines}
    lines = [line for line in loads(row.text).split("\n") if line.removeprefix(BULLET) not in made]
    return "\n".join(lines) if any(line.startswith(BULLET) for line in lines) else ""


def provenance_of(tx: Transaction, summary_id: str) -> Provenance | None:
    """What a summary was made of; None if it was not made of the ledger, or by an earlier version."""
    stored = tx.execute(_PROVENANCE, {"summary": summary_id}).scalar_one()
    return None if stored is None else provenance.from_json(loads(stored))


def items_of(tx: Transaction, summaries: Mapping[str, int]) -> list[ItemAt]:
    """The items of all that these summaries cover.

    `summaries` maps their ids to the seq at which the items of a summary stand that has nothing but its text.
    """
    found: list[ItemAt] = []
    for row in tx.execute(_LEDGERS, {"summaries": list(summaries)}) if summaries else ():
        if row.ledger is None:
            found += ((summaries[row.id], item) for item in earlier_items(loads(row.text)))
        else:
            found += snapshot.from_json(loads(row.ledger))
    return found


def shown_text(tx: Transaction, summary_id: str) -> str:
    """The text of a summary as views show it, with its appendix."""
    return shown_summaries(tx, [summary_id])[summary_id].text


def shown_summaries(tx: Transaction, summaries: Sequence[str]) -> dict[str, Shown]:
    """Summaries as views show them, by summary id."""
    rows = tx.execute(_SHOWN, {"summaries": summaries}) if summaries else ()
    return {
        row.id: Shown(
            with_appendix(loads(row.text), loads(row.appendix) if row.appendix else ""),
            block_from_json(loads(row.block)) if row.block else None,
        )
        for row in rows
    }


def files_of(tx: Transaction, summaries: Sequence[str]) -> Files:
    """The files that were read and changed in all that these summaries cover."""
    found = NO_FILES
    for stored in tx.execute(_DETAILS, {"summaries": summaries}).scalars() if summaries else ():
        found |= files_from(_loaded(stored))
    return found


def _loaded(value: bytes | None) -> dict[str, Any]:
    # Summaries of the first versions have no details.
    return loads(value) if value else {}


def details(files: Files) -> dict[str, list[str]]:
    """The lists of files in a summary's `details`."""
    return {"read_files": files.read_only, "modified_files": files.changed}


def files_from(stored: Mapping[str, Any]) -> Files:
    """The files in a summary's `details`."""
    return Files(frozenset(stored.get("read_files", ())), frozenset(stored.get("modified_files", ())))
