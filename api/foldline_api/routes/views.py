"""Read the view."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Literal

from fastapi import APIRouter, Query, Response

from foldline.engine.formats import DEFAULT, FORMATS
from foldline.engine.formats.alternation import alternating
from foldline.log.errors import Unavailable
from foldline.log.use_cases.views import view
from foldline_api import serializers
from foldline_api.http.etags import is_named, view_tag
from foldline_api.http.known_keys import LOCAL
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import JSON, json_response
from foldline_api.http.route_classes import DirectRoute
from foldline_api.schemas.answers import ContextAnswer
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Format, Model
from foldline_api.sent_views import SentView


class ViewRoute(DirectRoute):
    """A view that is asked for again is sent again without a thread, where that is read from a file, for one tenant.

    On a service with keys, one tenant's views would hold up the others.
    """

    plain_queries: ClassVar = {b"": {}, **{f"format={name}".encode(): {"format_name": name} for name in FORMATS}}

    @staticmethod
    def at_once(incoming: ApiRequest, given: Mapping[str, Any]) -> Response | None:
        """The session's own view in a format, if the process has it as it is now."""
        store, views = incoming.service.store, incoming.service.views
        asked = incoming.tenant, incoming.session_id, given.get("format_name", DEFAULT)
        # The view after an append is another one: to look for it here would be in vain.
        if not (incoming.caller.name == LOCAL and store.reads_at_once and views.was_asked_again(*asked)):
            return None
        with suppress(Unavailable), store.read_at_once() as tx:
            known = views.known(tx, *asked)
            return None if known is None else _response(known, incoming, asked[-1])
        return None


router = APIRouter(tags=["messages"], route_class=ViewRoute)


@router.get("/sessions/{session_id}/context", **described(ContextAnswer, others={304: "Nothing changed."}))
def read_context(
    session_id: str,
    incoming: FromRequest,
    *,
    format_name: Format = DEFAULT,
    model: Model = None,
    fit: Annotated[
        Literal["budget", "none"], Query(description="`none` ignores the budget: the view may be too large.")
    ] = "budget",
    open_: Annotated[
        Literal["refuse", "stub"],
        Query(alias="open", description="While tool calls wait for results: refuse, or add stubs for the results."),
    ] = "refuse",
    roles: Annotated[
        Literal["as_is", "alternate"],
        Query(description="`alternate` joins neighbouring messages of one role, for providers that refuse them."),
    ] = "as_is",
) -> Response:
    """Read the view: the messages that the model should see now.

    The answer has an ETag, except with `model`, `fit=none`, `open=stub` or `roles=alternate`.
    """
    must_fit, stub_open, must_alternate = fit == "budget", open_ == "stub", roles == "alternate"
    if model is None and must_fit and not (stub_open or must_alternate):
        return _own_view(session_id, incoming, format_name)
    with incoming.service.store.read() as tx:
        found = view(
            tx,
            incoming.tenant,
            session_id,
            model=model,
            format_name=format_name,
            must_fit=must_fit,
            stub_open=stub_open,
        )
    session, wire_format = found.path.session, FORMATS[format_name]
    rendered = wire_format.render(found.messages, session.system, model or session.model)
    messages = alternating(rendered.messages) if must_alternate and wire_format.has_turns else rendered.messages
    return json_response({"messages": messages, **serializers.view_fields(found, rendered.lossy)})


def _own_view(session_id: str, incoming: ApiRequest, format_name: str) -> Response:
    """The view of the session's own model, which is the same as long as its version stands."""
    with incoming.service.store.read() as tx:
        sent = incoming.service.views.read(tx, incoming.tenant, session_id, format_name)
    return _response(sent, incoming, format_name)


def _response(sent: SentView, incoming: ApiRequest, format_name: str) -> Response:
    tag = {"ETag": view_tag(sent.version, format_name)}
    if is_named(tag["ETag"], incoming.headers.getlist("if-none-match")):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=tag)
    return Response(sent.body, headers=tag, media_type=JSON)
