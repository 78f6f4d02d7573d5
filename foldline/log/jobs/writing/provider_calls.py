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
    """The beginning of the view up to the end of the range, as the session's model is shown it.

    None if its provider is not to be asked, or if what follows would be written in another way after its block: a
    format may write a message in a way that depends on those before it, and the reasoning in it is bound to that.
    """
    session = path.session
    compactor = compactor_of(session.model)
    if wanted.by_provider is None or wanted.by_provider.model != session.model or compactor is None:
        return None
    target, wire_format = Target(session.model, compactor.format), FORMATS[compactor.format]
    whole = show(tx, path, outline, target, stub_open=True).messages
    first = show(tx, path, outline, target, until=wanted.covered.last).messages
    after = [*wire_format.parse([compactor.blank]), *whole[len(first) :]]
    now, sent, then = (
        wire_format.render(messages, session.system, session.model) for messages in (whole, first, after)
    )
    if now.messages != [*sent.messages, *then.messages[1:]]:
        return None
    return ProviderCall(compactor.name, name_of(session.model), sent.system, session.tools, sent.messages)
