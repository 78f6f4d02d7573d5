"""Single entries of a long session are read in batches, each by one look-up in the index."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from foldline.log.storage import entry_log
from foldline.log.storage.segments import Segment
from foldline.log.storage.tables import ENTRY
from tests.support.log.sessions import Scene, turns


def test_single_entries_are_read_in_batches(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_log, "RUNS_AT_ONCE", 4)
    scene.append(*turns(10, 20))
    path = scene.path
    wanted = list(range(1, path.leaf_seq + 1, 2))
    statements: list[str] = []
    event.listen(scene.store.engine, "before_cursor_execute", lambda *at: statements.append(at[2]))
    with scene.store.write() as tx:
        parts = [Segment(path.branch, seq, seq) for seq in wanted]
        rows = entry_log.rows_in(tx, path.session, parts, (ENTRY.c.seq,))
    assert [row.seq for row in rows] == wanted
    # Each of very many alternatives would be compared with each entry of the session.
    reading = [statement for statement in statements if "FROM entry" in statement]
    assert len(reading) == -(-len(wanted) // 4)
    assert all("seq IN" in statement for statement in reading)
