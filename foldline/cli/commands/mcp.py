"""`foldline mcp`: the tools of a running service for an agent's model, by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from foldline.cli.loading import load
from foldline.cli.options import ApiKey, address_of
from foldline.cli.watching.running_services import running_services, user_folder
from foldline.client import Client
from foldline.terminal import notes

DEFAULT_URL: Final = "http://127.0.0.1:8080"
DEFAULT_PORT: Final = 8090


def mcp(
    *,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="FOLDLINE_URL", help=f"A running service; else that of a `foldline run`, or {DEFAULT_URL}."
        ),
    ] = None,
    api_key: ApiKey = None,
    session: Annotated[
        str | None,
        typer.Option(
            envvar="FOLDLINE_SESSION", help="Session of calls that name none; else the one that got a message last."
        ),
    ] = None,
    is_http: Annotated[bool, typer.Option("--http", help="Serve on a port of this machine, not on stdin.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --http; 0 picks a free one.")] = DEFAULT_PORT,
) -> None:
    """Serve recall, ledger, pin, compact and undo to an agent, as an MCP server of a running service.

    An agent starts it by itself: `claude mcp add foldline -- foldline mcp`. It serves on stdin and stdout until stdin
    ends. The service may start later: until then calls are answered with what to do.
    """
    # The SDK is an extra, which nothing else needs.
    transports = load("foldline.mcp_server.transports")
    of_runs = running_services(user_folder())
    with Client(address_of(url or next(iter(of_runs), DEFAULT_URL)), api_key) as service:
        if not is_http:
            transports.serve_pipes(service, session)
            return
        # Agents wait for the start, and this would double it.
        listening = load("foldline.cli.listening")
        with listening.loopback_listener(port) as listener:
            notes().print(f"foldline: MCP at {listening.url_of(listener)}/mcp, for {service.url}", markup=False)
            transports.serve_http(service, session, listener)
