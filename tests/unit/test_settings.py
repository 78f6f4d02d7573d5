"""What a process accepts as its configuration, and what it says about the rest."""

from __future__ import annotations

import base64

import pytest
from pydantic import ValidationError

from foldline.settings import SEALING_KEY_BYTES, InvalidSettings, Settings, load_settings, unknown_variables

EVERYWHERE = "::"


def problems_of(**overrides: object) -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        load_settings(**overrides)
    return caught.value.problems


def test_the_defaults_are_one_process_on_loopback_without_an_llm() -> None:
    settings = load_settings()
    assert (settings.is_local, settings.summarizer, settings.has_memory_broker) == (True, "extractive", True)
    assert settings.database_url == "sqlite:///foldline.db"
    assert settings.max_body_bytes == 33_554_432
    assert not settings.tenants_by_key


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_variables_are_read_with_the_prefix_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_PORT", "9000")
    monkeypatch.setenv("FOLDLINE_LEASE_SECONDS", "7")
    settings = load_settings(port=9001)
    assert (settings.port, settings.lease_seconds) == (9001, 7)


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_SUMMARIZER", "")
    assert load_settings().summarizer == "extractive"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load_settings().port = 1  # type: ignore[misc]  # that it cannot is the test


def test_a_bad_value_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_PORT", "70000")
    monkeypatch.setenv("FOLDLINE_THREADS", "many")
    port, threads = problems_of()
    assert port.startswith("FOLDLINE_PORT: ")
    assert threads.startswith("FOLDLINE_THREADS: ")


def test_a_setting_that_does_not_exist_is_refused() -> None:
    assert problems_of(prot=1)[0].startswith("FOLDLINE_PROT: ")


def test_a_base_url_loses_its_last_slash_and_must_be_http() -> None:
    assert load_settings(summarizer_base_url="https://llm.example/v1/").summarizer_base_url == "https://llm.example/v1"
    assert "http" in problems_of(summarizer_base_url="llm.example/v1")[0]


@pytest.mark.parametrize(
    "url", ["http://me:top[secret@llm/v1", "http://me:[secret]@llm/v1", "http://me:secret℀@llm/v1"]
)
def test_a_base_url_that_cannot_be_read_is_refused_without_showing_it(url: str) -> None:
    (problem,) = problems_of(summarizer_base_url=url)
    assert problem.startswith("FOLDLINE_SUMMARIZER_BASE_URL: give an http")
    assert "secret" not in problem


def test_there_are_more_connections_than_threads() -> None:
    (problem,) = problems_of(threads=30)
    assert "FOLDLINE_DATABASE_CONNECTIONS must be at least 35" in problem
    assert "FOLDLINE_THREADS" in problem
    assert load_settings(threads=30, database_connections=35).threads == 30
    assert problems_of(database_connections=20)


def test_an_address_with_a_bracket_in_its_password_is_of_no_broker_inside() -> None:
    assert not load_settings(broker_url="redis://:pa[ss@broker/0").has_memory_broker


def test_each_key_names_its_tenant() -> None:
    one, two, three = (f"{name}-{'x' * 16}" for name in ("k1", "k2", "a:b"))
    settings = load_settings(api_keys=f" acme:{one}, acme:{two},globex:{three} ")
    assert settings.tenants_by_key == {one: "acme", two: "acme", three: "globex"}


@pytest.mark.parametrize("keys", ["acme", "acme:", ":topsecret", "acme:topsecret,globex:topsecret", "acme:topsecret"])
def test_bad_keys_are_refused_without_showing_them(keys: str) -> None:
    (problem,) = problems_of(api_keys=keys)
    assert problem.startswith("FOLDLINE_API_KEYS: ")
    assert "topsecret" not in problem


def test_encryption_keys_are_parted_by_commas() -> None:
    one, two = (base64.b64encode(letter * SEALING_KEY_BYTES).decode() for letter in (b"1", b"2"))
    assert load_settings(encryption_keys=f"{one}, {two}").sealing_keys == [b"1" * 32, b"2" * 32]
    assert load_settings().sealing_keys == []


def test_tenants_have_days_of_retention_of_their_own() -> None:
    settings = load_settings(retention_days_by_tenant=" acme:30, globex:365 ")
    assert (settings.retention_days, settings.tenant_retention_days) == (None, {"acme": 30, "globex": 365})


@pytest.mark.parametrize("given", ["acme", "acme:", ":3", "acme:0", "acme:-1", "acme:1.5", "acme:36501", "a:1,a:2"])
def test_days_of_retention_that_are_none_are_refused(given: str) -> None:
    (problem,) = problems_of(retention_days_by_tenant=given)
    assert problem.startswith("FOLDLINE_RETENTION_DAYS_BY_TENANT: write it as tenant:days")


@pytest.mark.parametrize("keys", ["topsecret", "dG9wc2VjcmV0", f"{'A' * 43}=,topsecret"])
def test_a_bad_encryption_key_is_refused_without_showing_it(keys: str) -> None:
    (problem,) = problems_of(encryption_keys=keys)
    assert problem.startswith("FOLDLINE_ENCRYPTION_KEYS: write it as key,key with 32 bytes in base64 each")
    assert keys not in problem


def test_secrets_stay_out_of_the_representation() -> None:
    settings = load_settings(
        encryption_keys=f"{'topsecret' * 4}topsecA=",
        api_keys="acme:topsecret-topsecret",
        summarizer_api_key="topsecret",
        anthropic_api_key="topsecret",
        openai_api_key="topsecret",
        broker_url="redis://:topsecret@broker/0",
        database_url="postgresql://me:topsecret@db/x",
    )
    assert "topsecret" not in repr(settings)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [(EVERYWHERE, False), ("::1", True), ("[::1]", True), ("localhost", True), ("db.internal", False)],
)
def test_an_address_is_of_this_machine_only_if_it_is_loopback(host: str, *, is_local: bool) -> None:
    assert load_settings(host=host).is_local is is_local


def test_a_key_that_could_be_tried_out_is_refused_with_what_to_do() -> None:
    (problem,) = problems_of(api_keys="acme:fifteen-letters")
    assert problem.startswith("FOLDLINE_API_KEYS: each key needs at least 16 characters; `openssl rand -hex 32`")
    assert load_settings(api_keys="acme:sixteen-letters.").tenants_by_key


def test_a_variable_that_is_no_setting_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_THREADS", "5")
    monkeypatch.setenv("FOLDLINE_WORKER_CONCURENCY", "8")
    assert unknown_variables() == ["FOLDLINE_WORKER_CONCURENCY"]
