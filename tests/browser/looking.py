"""A page in Chromium, what a replay leaves to be seen on it, and where pictures of it go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from stack.stack import Stack
from tests.support.processes.program import REPOSITORY, foldline
from tests.support.processes.scripted_llm import ScriptedLLM, slow
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions

SIZE: Final[Any] = {"width": 1280, "height": 900}
# The sandbox needs rights that containers do not have; there is nothing here but pages of our own.
OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
SUMMARY_SECONDS: Final = 0.4


@contextmanager
def page(**options: Any) -> Iterator[Any]:
    """An empty page; `options` are those of a browser's context, as `http_credentials`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"] or None, args=list(OPTIONS))
        yield browser.new_context(viewport=SIZE, **options).new_page()
        browser.close()


def keep(page: Any, name: str) -> None:
    """Keep a picture of the page."""
    folder = REPOSITORY / os.environ["SCREENSHOTS"]
    folder.mkdir(parents=True, exist_ok=True)
    # What stays in place as a page is scrolled would lie across the picture.
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / f"{name}.png", full_page=True)


@contextmanager
def busy_stack() -> Iterator[tuple[Stack, ScriptedLLM]]:
    """The services of docker/compose.yaml as processes, whose workers ask a scripted LLM that takes its time."""
    with ScriptedLLM(default=slow(SUMMARY_SECONDS)) as llm:
        environment = {
            "FOLDLINE_SUMMARIZER": "openai",
            "FOLDLINE_SUMMARIZER_BASE_URL": llm.base_url,
            "FOLDLINE_SUMMARIZER_MODEL": "scripted",
            "FOLDLINE_SWEEP_SECONDS": "5",
        }
        with Stack(environment=environment) as stack:
            yield stack, llm


def replay(stack: Stack, folder: Path, seed: int = 1) -> None:
    """Drive generated sessions through a stack."""
    sessions = write_sessions(
        folder / f"sessions-{seed}.jsonl",
        coding=coding_session(seed, turns=8),
        anthropic=anthropic_session(seed + 1, turns=10),
        chat=chat_session(seed + 2, turns=20),
    )
    done = foldline("replay", sessions, "--url", stack.api_url, "--window", "5000", "--compact-every", "10")
    assert done.stdout.splitlines()[-1:] == ["violations: 0"], done.stdout + done.stderr
