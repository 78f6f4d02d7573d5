"""The server of the protocol: lists the tools, checks the arguments of a call, and answers it from a service."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

import anyio.to_thread
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from foldline.client import Client, JsonDict, Refused, in_use
from foldline.mcp_server.calls import CannotAnswer
from foldline.mcp_server.failures import sentence_of
from foldline.mcp_server.tools import SESSION, TOOLS, OfferedTool, schema_for
from foldline.terminal import CommandFailed

INSTRUCTIONS: Final = (
    "Foldline keeps this conversation within the model's context window. What it takes out of view is not lost: "
    "`recall` finds it, and `ledger` lists what must survive."
)
# Claude Code's name for it. A model does not search for a tool that finds what it does not know to be missing.
ALWAYS_SHOWN: Final = "anthropic/alwaysLoad"
# Sessions that are looked at for the one in use.
LATEST: Final = 5


def create_server(service: Client, session: str | None) -> Server[Any]:
    """A server of the tools. `session` is taken where a call names none; None is the one that got a message last.

    It must have got it since this server started: an agent's request comes before its model's call, and what other
    agents said earlier is nothing to change.
    """
    earlier = _versions(service)

    async def list_tools(_context: ServerRequestContext[Any], _page: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_definition(name, offered, session) for name, offered in TOOLS.items()])

    async def call_tool(_context: ServerRequestContext[Any], call: CallToolRequestParams) -> CallToolResult:
        work = partial(_answered, service, session, earlier, call.name, call.arguments or {})
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    return Server(
        "foldline",
        version=version("foldline"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _definition(name: str, offered: OfferedTool, session: str | None) -> Tool:
    hints = ToolAnnotations(read_only_hint=offered.is_reading, destructive_hint=False, open_world_hint=False)
    return Tool(
        name=name,
        description=offered.description,
        input_schema=schema_for(offered, session),
        annotations=hints,
        _meta={ALWAYS_SHOWN: True} if offered.is_always_shown else None,
    )


def _versions(service: Client) -> JsonDict:
    """The sessions that got a message last, each with its version; none if the service is away."""
    try:
        return {session["id"]: session["version"] for session in service.latest_sessions(LATEST)}
    except (Refused, CommandFailed):
        return {}


def _answered(
    service: Client, session: str | None, earlier: JsonDict, name: str, arguments: JsonDict
) -> CallToolResult:
    """The answer to a call. An error of the caller or the service is one too, for the model to read."""
    named = ""
    try:
        offered = _offered(name, arguments, session)
        given = {key: value for key, value in arguments.items() if key != SESSION}
        chosen = arguments.get(SESSION) or session or _latest(service, earlier)
        named = f"[Session {chosen}]\n"
        return _result(named + offered.perform(service, quote(chosen, safe=""), given))
    except CannotAnswer as error:
        return _result(f"{named}{error}", is_error=True)
    except (Refused, CommandFailed) as failure:
        return _result(named + sentence_of(failure), is_error=True)
    finally:
        # They are for replays; a server would keep them for ever.
        service.seconds.clear()


def _offered(name: str, arguments: JsonDict, session: str | None) -> OfferedTool:
    offered = TOOLS.get(name)
    if offered is None:
        raise CannotAnswer(f"There is no tool {name}; there are {', '.join(TOOLS)}.")
    wrong = best_match(Draft202012Validator(schema_for(offered, session)).iter_errors(arguments))
    if wrong is not None:
        where = ".".join(map(str, wrong.path)) or "arguments"
        raise CannotAnswer(f"{where}: {wrong.message}. Mend that and call again.")
    return offered


def _latest(service: Client, earlier: JsonDict) -> str:
    """The id of the session in use, of those that got a message since this server began."""
    latest = service.latest_sessions(LATEST)
    found = in_use([session for session in latest if earlier.get(session["id"]) != session["version"]])
    if found is None and latest:
        raise CannotAnswer(f"No session got a message since this server began. Name one, such as {latest[0]['id']}.")
    if found is None:
        raise CannotAnswer("The service has no session yet. Call again once a conversation has begun there.")
    chosen: str = found["id"]
    return chosen


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    # Conversations may have lone surrogates, which the protocol cannot send.
    sent = text.encode(errors="replace").decode()
    return CallToolResult(content=[TextContent(type="text", text=sent)], is_error=is_error)
