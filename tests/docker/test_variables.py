"""docker/.env.example: every variable that docker/compose.yaml reads, none with a secret."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from foldline.settings import PREFIX, Settings, load_settings
from stack import compose

TEXT: Final = (compose.FILE.parent / ".env.example").read_text("utf-8")
SET: Final = dict(re.findall(r"^(\w+)=(.*)$", TEXT, re.MULTILINE))
OPTIONAL: Final = dict(re.findall(r"^# ([A-Z_]+)=(.*)$", TEXT, re.MULTILINE))
FILE: Final = compose.FILE.read_text("utf-8")
# Of Compose itself.
PROFILES: Final = "COMPOSE_PROFILES"


def test_it_has_every_variable_that_the_file_reads_and_no_other() -> None:
    read = set(re.findall(r"(?<!\$)\$\{?([A-Z_]+)", FILE))
    passed = {
        variable
        for service in yaml.safe_load(FILE)["services"].values()
        for variable, value in service.get("environment", {}).items()
        if value is None
    }
    assert SET.keys() | OPTIONAL.keys() == read | passed | {PROFILES}


def test_only_what_must_be_filled_in_is_there_to_be_filled_in() -> None:
    assert {name for name, value in SET.items() if not value} == {
        "POSTGRES_PASSWORD",
        "VALKEY_PASSWORD",
        "FOLDLINE_API_KEYS",
        "FOLDLINE_FLOWER_LOGIN",
    }


def test_it_starts_a_broker_and_a_database_once_it_is_filled_in() -> None:
    filled_in = {name: value or "tenant:made-up" for name, value in SET.items()}
    assert {"broker", "database"} <= compose.services(filled_in).keys()


@pytest.mark.parametrize("written", ["'user:pa$word'", "user:pa$$word"])
def test_a_dollar_arrives_from_single_quotes_or_doubled(written: str, tmp_path: Path) -> None:
    filled_in = {name: value or "tenant:made-up" for name, value in SET.items()} | {"FOLDLINE_FLOWER_LOGIN": written}
    file = tmp_path / ".env"
    file.write_text("".join(f"{name}={value}\n" for name, value in filled_in.items()))

    command = [str(part) for part in (compose.PROGRAM, "--file", compose.FILE, "--env-file", file, "config")]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)

    # What it writes is for Compose to read, so each `$` is doubled.
    login = yaml.safe_load(done.stdout)["services"]["flower"]["environment"]["FOLDLINE_FLOWER_LOGIN"]
    assert (login, done.stderr) == ("user:pa$$word", "")


def test_what_it_shows_of_a_setting_is_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPTIONAL.items():
        if name.startswith(PREFIX):
            monkeypatch.setenv(name, value)

    # In containers, logs are for programs.
    assert load_settings() == Settings(log_format="json")


def test_what_it_shows_of_the_rest_is_what_compose_has_without_it() -> None:
    others = {name: value for name, value in OPTIONAL.items() if not name.startswith(PREFIX)}
    secrets = {name: value or "tenant:made-up" for name, value in SET.items()}
    assert others
    assert compose.services(secrets | others) == compose.services(secrets)
