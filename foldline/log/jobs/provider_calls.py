"""What the provider of a session's model is sent for its own compaction."""

from __future__ import annotations

from foldline.engine.formats import FORMATS
from foldline.engine.models.compactors import compactor_of, name_of
from foldline.engine.outline import Outline
from foldline.engine.summaries.provider_block import ProviderCall
from foldline.log.compaction.summaries import Wanted
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.views.showing import Target, show


def provider_call(tx: Transaction, path: Path, wanted: Wanted, outline: Outline) -> ProviderCall | None:
    """The beginning of the view up to the end of the range, as the session's model is shown it; None if its provider is
    not asked.
    """
    session = path.session
    compactor = compactor_of(session.model)
    if wanted.by_provider is None or compactor is None:
        return None
    shown = show(tx, path, outline, Target(session.model, compactor.format), until=wanted.covered.last)
    rendered = FORMATS[compactor.format].render(shown.messages, session.system, session.model)
    return ProviderCall(compactor.name, name_of(session.model), rendered.system, session.tools, rendered.messages)
