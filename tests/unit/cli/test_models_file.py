"""The file with the operator's own models: what it gives, and which line is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from foldline.cli.commands import COMMANDS
from foldline.cli.database import settings_of
from foldline.cli.models_file import read_models
from foldline.engine.models.prices import Prices
from foldline.engine.models.windows import known_model, known_models, put_first, window_of
from foldline.terminal import CommandFailed
from tools.settings_page import INTRODUCTION

OWN = """
# Ours.
[[model]]
name = "Home/Llama-4"
window = "128k"

[[model]]
name = "anthropic/claude-opus-5"
window = 500_000
input = 4
cached_input = 0.4
"""


@pytest.fixture(autouse=True)
def _without_rows() -> Iterator[None]:
    yield
    put_first(())


def write(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text)
    return path


def run(command: str, *arguments: str, **variables: str) -> Result:
    app = typer.Typer()
    listed = COMMANDS[command]
    app.command()(getattr(import_module(f"foldline.cli.commands.{listed.module}"), listed.name))
    return CliRunner().invoke(app, arguments, env=variables)


def test_rows_of_the_file_come_first_with_its_name_and_date(tmp_path: Path) -> None:
    before = known_model("anthropic/claude-opus-5")
    settings_of({"models_file": str(write(tmp_path, OWN))})

    assert window_of("home/llama-4").tokens == window_of("llama-4").tokens == 128_000
    opus = known_model("anthropic/claude-opus-5-20261001")
    assert before is not None
    assert opus is not None
    assert (before.tokens, opus.tokens) == (1_000_000, 500_000)
    assert re.fullmatch(r"models\.toml, \d{4}-\d\d-\d\d", opus.source)
    assert opus.prices == Prices(input=4, cached_input=0.4)
    assert [known.name for known in known_models()[:2]] == ["llama-4", "claude-opus-5"]


def test_a_row_without_prices_has_those_of_the_catalogue(tmp_path: Path) -> None:
    listed = known_model("openai/gpt-4o")
    put_first(read_models(write(tmp_path, '[[model]]\nname = "openai/gpt-4o"\nwindow = 64000')))
    found = known_model("openai/gpt-4o")
    assert listed is not None
    assert found is not None
    assert found.prices == listed.prices == Prices(2.5, 1.25, None, 10)
    assert found.window.is_exact


def test_a_row_for_a_cloud_is_found_by_each_of_its_names(tmp_path: Path) -> None:
    put_first(read_models(write(tmp_path, '[[model]]\nname = "bedrock/ours-v1"\nwindow = 64000')))
    assert window_of("bedrock/ours-v1").tokens == window_of("aws/ours-v1").tokens == 64_000


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('[[model]]\nname = "a/b"\nwindow = 1k', 3, ""),
        ('[[model]]\nname = "a/b"\n\nwindow = "much"', 4, "`window` must be a number of tokens"),
        ('[[model]]\nname = "a/b"', 1, "`window` must be a number of tokens"),
        ('[[model]]\nwindow = 1000\nname = "b"', 3, "`name` must be provider/name"),
        (
            '\n[[model]]\nname = "a/b"\nwindow = 1\n[[model]]\nname = "c/d"\nwindow = 1\nprice = 2',
            8,
            "`price` is unknown",
        ),
        ('[[model]]\nname = "a/b"\nwindow = 1\ninput = "3"', 4, "`input` must be US dollars"),
        ('[[model]]\nname = "a/b"\nwindow = 1\noutput = -1', 4, "`output` must be US dollars"),
        ('[[model]]\nname = "a/b"\nwindow = 1\n[[model]]\nname = "A/b"\nwindow = 2', 4, "listed already, on line 1"),
        ('# Models\nmodels = ["a/b"]', 2, "`models` is unknown"),
        ('[model]\nname = "a/b"\nwindow = 1', 1, r"must begin with a line \[\[model\]\]"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, problem: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(CommandFailed, match=rf"models\.toml.*line {line}\b.*{problem}"):
        settings_of({"models_file": str(path)})


def test_a_file_that_is_not_there_is_said_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"models file .*nothing\.toml cannot be read"):
        settings_of({"models_file": str(tmp_path / "nothing.toml")})


def test_the_service_does_not_start_with_a_file_that_is_wrong(tmp_path: Path) -> None:
    path = write(tmp_path, '[[model]]\nname = "a/b"\nwindow = 0')
    result = run("serve", FOLDLINE_MODELS_FILE=str(path))
    assert isinstance(result.exception, CommandFailed)
    assert "line 3: `window` must be" in str(result.exception)


def test_the_command_lists_the_models_of_a_file(tmp_path: Path) -> None:
    result = run("models", "--json", "--models-file", str(write(tmp_path, OWN)))
    assert json.loads(result.stdout)[0]["model"] == "home/llama-4"


def test_the_documented_file_can_be_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", INTRODUCTION, re.DOTALL)
    found = read_models(write(tmp_path, example))
    assert [(known.name, known.tokens) for known in found] == [("llama-4", 128_000), ("claude-opus-5", 500_000)]
