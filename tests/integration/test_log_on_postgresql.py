"""The interleavings that `tests/property` tries on SQLite, on PostgreSQL."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.test_branches import Branches
from tests.property.test_log import Log
from tests.support.processes.databases import Server

# A quarter of those on SQLite: one takes several times as long.
EXAMPLES = settings().max_examples // 4


@pytest.mark.timeout(900)
def test_what_clients_and_workers_can_do_to_a_session_comes_out_as_in_the_reference(postgresql: Server) -> None:
    class OnPostgreSQL(Log):
        def new_database(self) -> AbstractContextManager[str]:
            return postgresql.database()

    run_state_machine_as_test(OnPostgreSQL, settings=settings(max_examples=EXAMPLES))


@pytest.mark.timeout(900)
def test_what_can_be_done_on_a_tree_of_branches_comes_out_as_in_the_reference(postgresql: Server) -> None:
    class OnPostgreSQL(Branches):
        def new_database(self) -> AbstractContextManager[str]:
            return postgresql.database()

    run_state_machine_as_test(OnPostgreSQL, settings=settings(max_examples=EXAMPLES))
