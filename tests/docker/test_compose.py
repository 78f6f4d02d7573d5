"""docker/compose.yaml as the real Compose reads it: what each service gets, may do, and waits for."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import pytest
from foldline_worker.broker.queues import TASK_BY_QUEUE
from pydantic import SecretStr

from foldline.settings import PREFIX, Settings, load_settings
from stack import compose

Json = dict[str, Any]

SECRETS: Final = {
    "POSTGRES_PASSWORD": "made-up-database",
    "VALKEY_PASSWORD": "made-up-broker",
    "FOLDLINE_API_KEYS": "tenant:made-up-key-of-16",
    "FOLDLINE_FLOWER_LOGIN": "user:made-up-login",
}
ELSEWHERE: Final = {
    "FOLDLINE_DATABASE_URL": "postgresql://user:password@elsewhere/name",
    "FOLDLINE_BROKER_URL": "rediss://:password@elsewhere:6379/0",
}
SERVERS: Final = ("broker", "database")
LLM_KEYS: Final = ("SUMMARIZER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
# The secrets among the settings, and nothing else of the kind.
SECRET_SETTINGS: Final = {
    f"{PREFIX}{name}" for name in ("DATABASE_URL", "BROKER_URL", "API_KEYS", "FLOWER_LOGIN", *LLM_KEYS)
}
WORKERS: Final = ("worker-interactive", "worker-background")
NEEDED: Final = {
    "migrate": {"DATABASE_URL"},
    "api": {"DATABASE_URL", "BROKER_URL", "API_KEYS"},
    "worker-interactive": {"DATABASE_URL", "BROKER_URL", *LLM_KEYS},
    "worker-background": {"DATABASE_URL", "BROKER_URL", *LLM_KEYS},
    "beat": {"BROKER_URL"},
    "flower": {"BROKER_URL", "FLOWER_LOGIN"},
}
SCRATCH: Final = str(Path("/", "tmp"))
ours = pytest.mark.parametrize("name", NEEDED)
every = pytest.mark.parametrize("name", [*SERVERS, *NEEDED])


@pytest.fixture(scope="module")
def services() -> dict[str, Json]:
    return compose.services(SECRETS, SERVERS)


def test_compose_finds_it_valid_and_knows_each_service(services: dict[str, Json]) -> None:
    assert services.keys() == {*SERVERS, *NEEDED}


@pytest.mark.parametrize("missing", SECRETS)
def test_it_does_not_start_without_a_secret(missing: str) -> None:
    for given in ({**SECRETS, missing: ""}, {name: value for name, value in SECRETS.items() if name != missing}):
        with pytest.raises(compose.InvalidCompose, match=f"{missing} is missing a value: set it in .env"):
            compose.services(given)


def test_services_elsewhere_need_neither_a_password_nor_a_service_here() -> None:
    keys = {name: value for name, value in SECRETS.items() if name.startswith(PREFIX)}

    services = compose.services(keys | ELSEWHERE)

    assert services.keys() == NEEDED.keys()
    assert {name: services["api"]["environment"][name] for name in ELSEWHERE} == ELSEWHERE


@ours
def test_a_process_takes_the_settings_it_is_given(
    name: str, services: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {variable: value for variable, value in services[name]["environment"].items() if value is not None}
    assert {variable.removeprefix(PREFIX).lower() for variable in given} <= Settings.model_fields.keys()
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)

    settings = load_settings()

    assert (settings.log_format, settings.metrics_port) == ("json", 9090)
    assert ip_address(settings.metrics_host).is_unspecified


def test_who_is_published_listens_to_others(services: dict[str, Json]) -> None:
    api, flower = (services[name]["environment"] for name in ("api", "flower"))
    settings = Settings(host=api["FOLDLINE_HOST"], api_keys=SecretStr(api["FOLDLINE_API_KEYS"]))
    assert settings.tenants_by_key
    assert ip_address(settings.host).is_unspecified
    assert ip_address(flower["FOLDLINE_FLOWER_HOST"]).is_unspecified


def test_every_setting_can_be_set(services: dict[str, Json]) -> None:
    given = set().union(*(services[name]["environment"] for name in NEEDED))
    assert given == {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_what_is_set_for_one_process_is_set_for_all(services: dict[str, Json]) -> None:
    changed = compose.services({**SECRETS, "FOLDLINE_LEASE_SECONDS": "7"})
    assert {changed[name]["environment"]["FOLDLINE_LEASE_SECONDS"] for name in NEEDED} == {"7"}
    assert {services[name]["environment"]["FOLDLINE_LEASE_SECONDS"] for name in NEEDED} == {None}


@ours
def test_a_service_has_the_secrets_that_it_needs_and_no_others(name: str, services: dict[str, Json]) -> None:
    given = services[name]["environment"].keys()
    assert given & SECRET_SETTINGS == {f"{PREFIX}{needed}" for needed in NEEDED[name]}


@every
def test_no_secret_is_written_in_the_file(name: str, services: dict[str, Json]) -> None:
    environment = services[name].get("environment", {})
    secret = re.compile("PASSWORD|LOGIN|KEY|URL$")
    for variable, value in environment.items():
        if secret.search(variable) and value is not None:
            assert any(made_up in value for made_up in SECRETS.values())


@every
def test_a_service_cannot_gain_rights_or_write_where_it_should_not(name: str, services: dict[str, Json]) -> None:
    service = services[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert SCRATCH in service["tmpfs"]
    assert not {"privileged", "cap_add", "network_mode", "pid"} & service.keys()


@every
def test_a_service_says_how_it_is_or_ends_and_is_waited_for(name: str, services: dict[str, Json]) -> None:
    check = services[name]["healthcheck"]
    if check.get("disable"):
        assert services[name]["restart"] == "no"
        assert services["api"]["depends_on"][name]["condition"] == "service_completed_successfully"
    else:
        assert services[name]["restart"] == "unless-stopped"
        assert check["test"]


@ours
def test_a_process_starts_after_what_it_needs(name: str, services: dict[str, Json]) -> None:
    conditions = {other: found["condition"] for other, found in services[name]["depends_on"].items()}
    healthy, done = "service_healthy", "service_completed_successfully"
    if name == "migrate":
        assert conditions == {"database": healthy}
    elif "DATABASE_URL" in NEEDED[name]:
        assert conditions == {"broker": healthy, "migrate": done}
    else:
        assert conditions == {"broker": healthy}


@ours
def test_a_process_has_time_to_stop(name: str, services: dict[str, Json]) -> None:
    assert float(services[name]["stop_grace_period"].removesuffix("s")) > Settings().stop_seconds


@every
def test_only_the_api_and_flower_can_be_reached_and_from_this_machine_only(
    name: str, services: dict[str, Json]
) -> None:
    published = [(port["host_ip"], port["target"]) for port in services[name].get("ports", ())]
    assert published == {"api": [("127.0.0.1", 8080)], "flower": [("127.0.0.1", 5555)]}.get(name, [])


def test_one_service_builds_the_image_that_all_of_ours_run(services: dict[str, Json]) -> None:
    assert {services[name]["image"] for name in NEEDED} == {services["migrate"]["image"]}
    assert [name for name, service in services.items() if "build" in service] == ["migrate"]


@ours
def test_a_process_finds_what_runs_on_the_machine_beside_it(name: str, services: dict[str, Json]) -> None:
    assert services[name]["extra_hosts"] == ["host.docker.internal=host-gateway"]


def test_the_database_takes_all_connections_of_twice_the_processes(services: dict[str, Json]) -> None:
    *_, setting = services["database"]["command"]
    processes = [name for name, needed in NEEDED.items() if "DATABASE_URL" in needed]
    assert int(setting.removeprefix("max_connections=")) > 2 * len(processes) * Settings().database_connections


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_has_no_way_out_and_keeps_its_data_in_a_volume(name: str, services: dict[str, Json]) -> None:
    assert list(services[name]["networks"]) == ["services"]
    assert [volume["source"] for volume in services[name]["volumes"]] == [name]


def test_the_broker_keeps_what_it_holds_and_its_password_to_itself(services: dict[str, Json]) -> None:
    _shell, _options, script = services["broker"]["command"]
    assert "--appendonly yes" in script
    assert SECRETS["VALKEY_PASSWORD"] not in script


def test_the_workers_share_out_all_queues_between_them(services: dict[str, Json]) -> None:
    taken = [set(services[name]["command"][2].split(",")) for name in WORKERS]
    assert set().union(*taken) == TASK_BY_QUEUE.keys()
    assert taken[0] & taken[1] == {"maintenance"}
