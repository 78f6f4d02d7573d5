"""The variables of a pod, as the program in it reads them."""

from __future__ import annotations

from typing import Final

import pytest

from foldline.settings import PREFIX, Settings, load_settings
from tests.chart.rendered import Pod

# What the Secrets of these tests hold.
HELD: Final = {
    "FOLDLINE_DATABASE_URL": "postgresql://foldline:secret@database/foldline",
    "FOLDLINE_BROKER_URL": "rediss://:secret@broker:6380/0",
    "FOLDLINE_API_KEYS": "tenant:secret-of-16-letters",
    "FOLDLINE_SUMMARIZER_API_KEY": "secret",
    "FOLDLINE_ANTHROPIC_API_KEY": "secret",
    "FOLDLINE_OPENAI_API_KEY": "secret",
    "FOLDLINE_FLOWER_LOGIN": "user:secret",
}


def environment(pod: Pod) -> dict[str, str]:
    """The program's variables as they are in a pod."""
    variables = {found["name"]: found.get("value", HELD.get(found["name"], "")) for found in pod.container["env"]}
    return {name: value for name, value in variables.items() if name.startswith(PREFIX)}


def parsed(pod: Pod) -> Settings:
    """What the program makes of a pod's variables."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(pod).items():
            patch.setenv(name, value)
        return load_settings()
