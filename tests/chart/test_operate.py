"""docs/operate.md: its Helm and kubectl commands match the chart, and every alert has a section."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from typing import Any, Final

import pytest
import yaml

from charts.helm import CHART, run_helm
from tests.chart.rendered import VALUES
from tests.support.processes.program import REPOSITORY

PAGE: Final = (REPOSITORY / "docs" / "operate.md").read_text("utf-8")
BLOCKS: Final = re.findall(r"^```console cluster\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS: Final = [shlex.split(line.removeprefix("$ ")) for block in BLOCKS for line in block.splitlines()]
# The reader's own values.
THEIRS: Final = {"values.yaml": str(VALUES["production"])}


def named(program: str, *verb: str) -> list[list[str]]:
    """The arguments after these words, of each command that begins with them."""
    begins = [program, *verb]
    return [words[len(begins) :] for words in COMMANDS if words[: len(begins)] == begins]


def installations() -> list[list[str]]:
    """The release, the chart and the options of each command that installs or upgrades."""
    found = [*named("helm", "install"), *named("helm", "upgrade")]
    return [[THEIRS.get(word, word) for word in words] for words in found]


def rendered(release: str, chart: str, *options: str) -> list[Any]:
    assert REPOSITORY / chart == CHART
    done = run_helm("template", release, CHART, *options)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def test_the_page_uses_only_known_commands_for_the_cluster() -> None:
    kubectl = ("create", "exec", "get", "logs", "rollout", "scale")
    known = {("helm", verb) for verb in ("install", "test", "upgrade")} | {("kubectl", verb) for verb in kubectl}
    assert {tuple(words[:2]) for words in COMMANDS} == known


@pytest.mark.parametrize("words", installations(), ids=lambda words: " ".join(words[4:6]))
def test_every_installation_on_the_page_renders_and_passes_the_linter(words: list[str]) -> None:
    release, chart, *options = words
    manifests = rendered(release, chart, *options)
    assert any("test" in manifest["metadata"].get("annotations", {}).get("helm.sh/hook", "") for manifest in manifests)
    linted = run_helm("lint", "--strict", CHART, *options)
    assert linted.returncode == 0, linted.stdout


def test_kubectl_commands_name_existing_objects() -> None:
    there = {
        f"{manifest['kind'].lower()}/{manifest['metadata']['name']}"
        for words in installations()
        for manifest in rendered(*words)
    }
    # What comes after `--` is for the program in the pod.
    given = {word for words in named("kubectl") for word in takewhile("--".__ne__, words)}
    names = {word for word in given if re.fullmatch(r"[a-z]+/[a-z0-9.-]+", word)}
    assert names
    assert names <= there


def test_the_secret_has_the_keys_that_the_chart_reads() -> None:
    ((secret, *literals),) = named("kubectl", "create", "secret", "generic")
    given = {literal.removeprefix("--from-literal=").partition("=")[0] for literal in literals}
    text = "\n".join(yaml.safe_dump(manifest) for words in installations() for manifest in rendered(*words))
    read = set(re.findall(rf"secretKeyRef:\n +key: (\S+)\n +name: {secret}\n", text))
    assert read == given


def test_every_alert_has_a_section_that_says_what_to_do() -> None:
    (group,) = yaml.safe_load((CHART / "rules" / "alerts.yaml").read_text("utf-8"))["groups"]
    alerts = {rule["alert"] for rule in group["rules"]}
    sections = dict(re.findall(r"^### (Foldline\w+)\n\n(.+?)(?=\n###|\Z)", PAGE, re.DOTALL | re.MULTILINE))
    assert sections.keys() == alerts
    assert min(map(len, sections.values())) > 100
    assert {rule["annotations"]["runbook"].partition("#")[2] for rule in group["rules"]} == {
        alert.lower() for alert in alerts
    }
