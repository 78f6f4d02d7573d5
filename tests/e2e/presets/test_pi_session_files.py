"""pi's session files, imported and exported over HTTP and by the command, and compacted where pi would."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.presets.driven import Driven, Service, lines, text_of
from tests.support.pi_files import (
    Json,
    answer,
    bash,
    branch_summary,
    chain,
    compaction,
    entry,
    file_of,
    first_version,
    lines_of,
    model_change,
    note,
    result,
    said,
    user,
)
from tests.support.processes.program import foldline

NUMBERS: Final = count()
TALK: Final = [user("u1"), answer("a1", "c1"), result("r1", "c1"), answer("a2"), user("u2"), answer("a3")]
SUMMED_UP: Final = chain(*TALK, compaction("k", "u2"), user("u3"))


def imported(service: Service, file: str, **fields: Any) -> Driven:
    made = service.post("/import", {"file": file, "id": f"file-{next(NUMBERS)}", **fields}, 201)
    return Driven(service, f"/sessions/{made['session']['id']}", made["session"]["context_window"])


def shown(session: Driven, *names: str) -> list[str]:
    """The entries of the file in the view, by the names that their texts have."""
    words = [word for message in session.view for word in text_of(message).removeprefix("$ ").split("\n")]
    return [word for word in words if word in names]


def exported(service: Service, session: Driven) -> list[Json]:
    return lines_of(service.client.get(f"{session.path}/export").text)


@pytest.mark.parametrize("version", [2, 3])
def test_a_file_with_ids_is_a_session_and_comes_out_as_it_was(service: Service, version: int) -> None:
    file = file_of(SUMMED_UP, version=version)
    session = imported(service, file)
    assert shown(session, "k", "u1", "u2", "a3", "u3") == ["k", "u2", "a3", "u3"]
    assert exported(service, session) == lines_of(file)
    (made,) = session.items("compactions")
    assert (made["reason"], made["first_kept_entry_id"], made["live"]) == ("imported", "e0-5", True)


def test_a_file_of_the_first_version_is_read(service: Service) -> None:
    first = entry("compaction", "k", summary="k", firstKeptEntryIndex=5, tokensBefore=9)
    file = first_version([*TALK, first, user("u3")])
    session = imported(service, file)
    assert shown(session, "k", "u1", "u2", "a3", "u3") == ["k", "u2", "a3", "u3"]
    assert exported(service, session) == lines_of(file)


@pytest.mark.parametrize(("first_kept", "seen"), [
    ("u2", ["k", "u2", "a3", "u3"]), ("k", ["k", "u3"]), ("nowhere", ["k", "u1", "a1", "r1", "a2", "u2", "a3", "u3"]),
])  # fmt: skip
def test_a_compaction_shows_what_it_keeps(service: Service, first_kept: str, seen: list[str]) -> None:
    session = imported(service, file_of(chain(*TALK, compaction("k", first_kept), user("u3"))))
    assert shown(session, "k", *(each["id"] for each in TALK), "u3") == seen


def test_all_kinds_of_entries_are_shown_as_pi_shows_them_or_stored(service: Service) -> None:
    entries = chain(
        user("u1"),
        answer("a1", "c1"),
        result("r1", "c1"),
        note("mind the gap"),
        bash("make"),
        bash("secret", is_excluded=True),
        entry("custom", "x1", customType="state", data={}),
        entry("thinking_level_change", "x2", thinkingLevel="high"),
        entry("label", "x3", label="here"),
        {**entry("session_info", "x4"), "name": "talk"},
        entry("context_edit", "x5"),
        branch_summary("tried it", "u1", details={"readFiles": ["b"], "modifiedFiles": ["x"]}),
        model_change("m", "gpt-4o-mini"),
        user("u2"),
    )
    session = imported(service, file_of(entries))
    kinds = [item["kind"] for item in session.items("entries")]
    assert kinds == [*["message"] * 5, *["other"] * 6, "branch_summary", "other", "message"]
    assert session.get()["model"] == "openai/gpt-4o-mini"
    view = session.get("/context?format=openai")["messages"]
    assert "secret" not in str(view)
    (found,) = [message for message in view if "mind the gap" in str(message)]
    assert found["role"] in {"developer", "user", "system"}
    assert any(message["role"] == "tool" and "r1" in text_of(message) for message in view)
    assert any(message["role"] == "user" and "$ make" in text_of(message) for message in view)
    assert any("tried it" in text_of(message) for message in view)
    branch = next(item for item in session.items("entries") if item["kind"] == "branch_summary")
    assert branch["details"] == {"read_files": ["b"], "modified_files": ["x"]}
    assert exported(service, session) == lines_of(file_of(entries))


def test_the_last_entry_is_the_head_and_every_other_leaf_can_be_gone_to(service: Service) -> None:
    tree = [*chain(*TALK), *chain(user("x1"), answer("x2"), after="a2"), *chain(user("y1"), after="a1")]
    session = imported(service, file_of(tree))
    names = [each["id"] for each in tree]
    assert shown(session, *names) == ["u1", "a1", "y1"]
    seen = []
    for branch in session.items("branches"):
        session.post("/branch", {"entry_id": branch["leaf_entry_id"]})
        seen.append(shown(session, *names))
    assert sorted(seen) == sorted([
        ["u1", "a1", "r1", "a2", "u2", "a3"], ["u1", "a1", "r1", "a2", "x1", "x2"], ["u1", "a1", "y1"]
    ])  # fmt: skip


def test_the_files_of_a_compaction_count_unless_an_extension_made_it(service: Service) -> None:
    noted = {"details": {"readFiles": ["b"], "modifiedFiles": ["x"]}}
    entries = chain(*TALK, compaction("k", "u2", **noted), compaction("l", None, fromHook=True, **noted))
    first, second = imported(service, file_of(entries)).items("compactions")
    assert (first["details"]["modified_files"], first["from_hook"]) == (["x"], None)
    assert {"b", "c1"} == {*first["details"]["read_files"]}
    assert second["from_hook"] == "extension"
    alone = imported(service, file_of(chain(*TALK, compaction("l", "u2", fromHook=True, **noted))))
    assert alone.items("compactions")[0]["details"]["modified_files"] == []


def test_reported_usage_counts_up_to_its_answer_and_not_of_failed_ones_or_from_before_a_compaction(
    service: Service,
) -> None:
    used = {"input": 4_000, "output": 40, "cacheRead": 900, "cacheWrite": 60}
    talk = [user("u1"), answer("a1", usage=used), user("four")]
    failed = answer("f", usage={"totalTokens": 9}, stopReason="aborted")
    for entries, tokens in (
        (talk, 5_001),
        ([*talk, failed], 5_002),
        ([*talk, compaction("k", "four")], None),
        ([user("u1"), answer("a1"), user("four")], None),
    ):
        counted = imported(service, file_of(chain(*entries))).stats["counted_tokens"]
        assert counted == pytest.approx(tokens or counted, abs=30)
        assert tokens is not None or counted < 100


def long_talk(*more: Json) -> list[Json]:
    """Turns of about 1,200 tokens, and what comes after them."""
    text = lines(600)
    turns = [
        said(f"{role}{number}", role, content=[{"type": "text", "text": text}])
        for number in range(12)
        for role in ("user", "assistant")
    ]
    return chain(*turns, *more)


def test_notes_right_before_the_cut_stay_with_what_is_kept(service: Service) -> None:
    tail = [note("mind the gap"), said("user-z", "user", content=lines(2_000)), answer("end")]
    for preset, is_kept in (("pi@program", True), ("pi", False)):
        stages = [{"name": "summarize", "keep_tokens": 1_000}]
        session = imported(
            service, file_of(long_talk(*tail)), policy={"preset": preset, "stages": stages}, context_window=64_000
        )
        cut = session.compact(dry_run=True)["summary"]
        kept = session.get(f"/entries/{cut['first_kept_entry_id']}")["message"]
        assert kept["id"] == ("mind the gap" if is_kept else "user-z")


def test_a_session_of_the_service_becomes_a_file_with_its_compactions(service: Service) -> None:
    session = service.start(
        "pi", 32_000, policy={"stages": [{"name": "summarize", "keep_tokens": 1_000}]}, auto_compact=False
    )
    session.work(6)
    session.compact()
    header, *written = exported(service, session)
    assert (header["type"], header["version"]) == ("session", 3)
    made = next(line for line in written if line["type"] == "compaction")
    assert "quick brown fox" in made["summary"]
    assert made["firstKeptEntryId"] in {line["id"] for line in written}
    again = imported(service, service.client.get(f"{session.path}/export").text, context_window=32_000)
    assert again.texts[0] == session.texts[0]


def test_the_command_imports_compacts_and_exports(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(file_of(long_talk(), id=f"talk-{next(NUMBERS)}"), encoding="utf-8")
    done = foldline("import", file, "--url", service.url, "--window", "32k")
    assert done.returncode == 0, done.stderr
    name = done.stdout.strip()
    assert foldline("export", name, "--url", service.url).stdout == file.read_text("utf-8")
