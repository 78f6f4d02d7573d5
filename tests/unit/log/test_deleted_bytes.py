"""After the sweep, the files of an SQLite database have nothing of a session that was deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import func, make_url, select, text

from foldline.log.jobs import indexing, sweeps
from foldline.log.storage import passages
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Scene, assistant, open_store, user
from tests.support.processes.canaries import found_in

SAID: Final = ("zorbagak", "zorbegak", "zorbigak", "zorbogak")


@pytest.fixture
def doomed(store: Store) -> Scene:
    """A session that says the words in its prompt, in messages that are indexed and summarized, and as a pin."""
    scene = Scene(store, system=f"You are a {SAID[0]}.")
    for number in range(7):
        scene.append({"role": "user", "content": f"Never feed the {SAID[1]} {number}. " + " fold" * 60}, assistant(60))
    scene.work()
    with store.write() as tx:
        tx.execute(text("UPDATE job SET error = :said"), {"said": SAID[2]})
    scene.append({"role": "user", "content": SAID[3]})
    indexing.index_session(store, scene.tenant, scene.id, 100)
    return scene


def files_with(store: Store) -> set[str]:
    return found_in(Path(str(store.url.database)).parent, SAID)


def delete(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)


def test_no_file_has_a_word_of_a_deleted_session_after_the_sweep(doomed: Scene) -> None:
    other = Scene(doomed.store, id="other")
    other.append(user(20))
    assert files_with(doomed.store) == {*SAID}
    delete(doomed)
    sweeps.sweep(doomed.store)
    assert files_with(doomed.store) == set()
    assert other.layout == ["user 1"]


def test_while_others_read_the_log_stays_and_a_later_sweep_empties_it(doomed: Scene) -> None:
    delete(doomed)
    with doomed.store.read() as tx:
        tx.execute(select(func.count()).select_from(SESSION)).scalar()
        sweeps.sweep(doomed.store)
        assert files_with(doomed.store) == {*SAID}
        assert not doomed.store.empty_log()
    sweeps.sweep(doomed.store)
    assert files_with(doomed.store) == set()


def test_a_session_is_kept_in_mind_until_the_index_has_forgotten_its_terms(
    doomed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MERGED_PAGES", 1)
    delete(doomed)
    steps: list[float] = []

    def break_off(seconds: float) -> None:
        steps.append(seconds)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sweeps.sweep(doomed.store, break_off)
    with doomed.store.read() as tx:
        assert tx.execute(select(func.count()).select_from(SESSION)).scalar() == 1
    sweeps.sweep(doomed.store)
    with doomed.store.read() as tx:
        assert tx.execute(select(func.count()).select_from(SESSION)).scalar() == 0
    assert files_with(doomed.store) == set()


@pytest.mark.parametrize("form", ["file:{file}?uri=true", "{link}"])
def test_the_log_is_found_whatever_form_the_address_of_its_database_has(
    form: str, database: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = Path(make_url(database).database or "")
    link = tmp_path_factory.mktemp("links") / "link.db"
    link.symlink_to(file)
    with open_store(f"sqlite:///{form.format(file=file, link=link)}") as store:
        scene = Scene(store)
        scene.append({"role": "user", "content": SAID[0]})
        delete(scene)
        assert found_in(file.parent, SAID) == {SAID[0]}
        sweeps.sweep(store)
        assert found_in(file.parent, SAID) == set()
