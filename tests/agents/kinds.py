"""The agents: the package of each, the files in which it looks for an address, and its command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.engine.wire import dumps_text

# What the last request still has to have.
SAID: Final = ("Never push to the branch main", "40417")
# The service has keys. The agents send one as docs/gateway.md says, from this variable.
HEADER: Final = "X-Foldline-Key"
KEY_VARIABLE: Final = "FOLDLINE_API_KEY"
KEY: Final = "the-long-key-of-the-agents"
TASK: Final = f"Read all parts. {SAID[0]}. The port is {SAID[1]}."


@dataclass(frozen=True, slots=True)
class Kind:
    """An agent. `configure` writes its files below its home for an address; `command` is what follows its program."""

    package: str
    program: str
    configure: Callable[[Path, str], None]
    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


def _nothing(_home: Path, _address: str) -> None:
    """It reads the address from its environment."""


def _codex(home: Path, address: str) -> None:
    lines = (
        'model = "gpt-5"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{address}/openai/v1"',
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        f'env_http_headers = {{ "{HEADER}" = "{KEY_VARIABLE}" }}',
    )
    _write(home / ".codex" / "config.toml", "\n".join(lines))


def _opencode(home: Path, address: str) -> None:
    headers = {HEADER: f"{{env:{KEY_VARIABLE}}}"}
    options = {"baseURL": f"{address}/openai/v1", "apiKey": "none", "headers": headers}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options}
    models = {"scripted": {"name": "scripted"}}
    written = dumps_text({"provider": {"scripted": {**provider, "models": models}}})
    _write(home / ".config" / "opencode" / "opencode.json", written)


def _pi(home: Path, address: str) -> None:
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"], "cost": cost}
    models = [{**model, "contextWindow": 1_000_000, "maxTokens": 8_000}]
    place = {"baseUrl": f"{address}/openai/v1", "api": "openai-completions", "headers": {HEADER: KEY_VARIABLE}}
    provider = {**place, "apiKey": "none", "models": models}
    _write(home / ".pi" / "agent" / "models.json", dumps_text({"providers": {"scripted": provider}}))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


KINDS: Final = {
    "Claude Code": Kind(
        "@anthropic-ai/claude-code",
        "claude",
        _nothing,
        ("-p", TASK, "--permission-mode", "acceptEdits"),
        (
            ("ANTHROPIC_API_KEY", "none"),
            ("ANTHROPIC_CUSTOM_HEADERS", f"{HEADER}: {KEY}"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ),
    ),
    "Codex": Kind(
        "@openai/codex",
        "codex",
        _codex,
        ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK),
        (("OPENAI_API_KEY", "none"),),
    ),
    "OpenCode": Kind("opencode-ai", "opencode", _opencode, ("run", "-m", "scripted/scripted", TASK)),
    "pi": Kind(
        "@mariozechner/pi-coding-agent", "pi", _pi, ("-p", "--provider", "scripted", "--model", "scripted", TASK)
    ),
}
