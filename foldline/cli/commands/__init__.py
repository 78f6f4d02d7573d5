"""The commands, one module each, and the table of them that `foldline --help` shows."""

from __future__ import annotations

from typing import Final, NamedTuple


class Listed(NamedTuple):
    """A command of the table: its module here, its function or Typer application there, and its line of help."""

    module: str
    name: str
    # The first sentence of its docstring, repeated so that the list of commands loads none of them.
    help: str


COMMANDS: Final = {
    "serve": Listed("processes.serve", "serve", "Serve the API and its worker, until stopped with Ctrl-C or SIGTERM."),
    "run": Listed("run", "run", "Run an agent whose history may outgrow its model's window: `foldline run -- claude`."),
    "mcp": Listed(
        "mcp",
        "mcp",
        "Serve recall, ledger, pin, compact and undo to an agent, as an MCP server of a running service.",
    ),
    "api": Listed(
        "processes.api",
        "api",
        "Serve the API, until stopped with Ctrl-C or SIGTERM; `foldline worker` writes the summaries.",
    ),
    "worker": Listed(
        "processes.worker",
        "worker",
        "Write summaries, until stopped with Ctrl-C or SIGTERM; what then still runs goes to another worker.",
    ),
    "beat": Listed(
        "processes.beat",
        "beat",
        "Have the workers look for lapsed leases and forgotten jobs, until stopped with Ctrl-C or SIGTERM.",
    ),
    "flower": Listed(
        "processes.flower",
        "flower",
        "Serve Flower, the page on workers and tasks, until stopped with Ctrl-C or SIGTERM.",
    ),
    "migrate": Listed(
        "upkeep.migrate", "migrate", "Bring the database to this version's tables; `foldline serve` does so by itself."
    ),
    "encrypt": Listed(
        "upkeep.encrypt",
        "encrypt",
        "Encrypt what is stored with the first of FOLDLINE_ENCRYPTION_KEYS, while the service goes on.",
    ),
    "compact": Listed(
        "compact",
        "compact",
        "Compact transcripts, and write them in the format they came in, one session a line; or a stored session.",
    ),
    "stats": Listed(
        "stats",
        "stats",
        "Show what each session takes of a model's budget, by kind of message, and whether it is time to compact.",
    ),
    "replay": Listed(
        "replay", "replay", "Drive recorded sessions turn by turn through a service, check every view, and report."
    ),
    "import": Listed(
        "session_files",
        "import_file",
        "Make a session of a session file: its messages, branches, compactions and branch summaries, or nothing at "
        "all.",
    ),
    "export": Listed(
        "session_files",
        "export_file",
        "Write a session as a session file of pi: what came from one as it was, all else as pi has it.",
    ),
    "presets": Listed(
        "presets", "presets", "List the presets: when each compacts, how far down, and with which stages."
    ),
    "models": Listed("models", "models", "List the models whose context window is known."),
    "watch": Listed("watch", "watch", "Watch a session: how full its view is, what was compacted, and its jobs."),
    "keys": Listed("keys", "app", "Create, list and revoke the API keys of a service."),
    "data": Listed("upkeep.data", "app", "Export or delete all that a tenant has; purge what was deleted."),
    "jobs": Listed("jobs", "app", "Look at summary jobs, and have them tried again or cancelled."),
}
