"""Talks to a service as a client does, and holds every answer against what the service says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute
from foldline_api.app import create_app
from foldline_api.http.problems import MEDIA_TYPE
from foldline_api.job_watch import Watch
from foldline_api.routes import ROUTERS
from foldline_api.schemas import bodies
from foldline_api.schemas.bodies import Body

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wire import loads
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.jobs import claims, publish
from foldline.log.storage.store import Limits, Store
from foldline.settings import Settings
from foldline.telemetry.health import Subject
from tests.support.processes.http import client
from tests.support.processes.server import opened_store, served

Json = dict[str, Any]
SMALL_WINDOW = 2000


@dataclass
class Api:
    """A service and a client of it. Its jobs stand still until the test does them."""

    client: httpx.Client
    store: Store
    app: FastAPI

    @property
    def watch(self) -> Watch:
        watch: Watch = self.app.state.service.watch
        return watch

    @property
    def metrics(self) -> str:
        """The metrics of the process, as its operator's port has them."""
        subject: Subject = self.app.state.subject
        assert subject.backlog is not None
        return subject.metrics.text({}, subject.backlog()).decode()

    def get(self, path: str, status: int = 200, **headers: str) -> Any:
        return self.call("GET", path, status=status, headers=headers)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return self.call("POST", path, body, status=status, headers=headers)

    def call(
        self, method: str, path: str, body: Any = None, *, status: int = 200, headers: dict[str, str] | None = None
    ) -> Any:
        """The answer's JSON, once its status and shape are as expected. Header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        response = self.client.request(method, path, json=body, headers=named)
        assert response.status_code == status, response.text[:500]
        check_answer(response)
        return loads(response.content) if response.content else None

    def problem(self, method: str, path: str, body: Any = None, **headers: str) -> Json:
        """The problem document of a request that must be refused; its `name` is the type's last segment."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return problem_of(self.client.request(method, path, json=body, headers=named))

    def session(self, **fields: Any) -> str:
        """A new session's path."""
        body = {"model": "nobody/nothing", "context_window": SMALL_WINDOW, **fields}
        return f"/sessions/{self.post('/sessions', body, 201)['id']}"

    def say(self, session: str, *messages: Json, **fields: Any) -> Json:
        """The answer to an append."""
        answer: Json = self.post(f"{session}/messages", {"messages": list(messages), **fields}, 201)
        return answer

    def fill(self, session: str, turns: int = 14) -> list[Json]:
        """The answers to a number of turns of some hundred tokens."""
        words = "so it goes on and on " * 20
        return [self.say(session, user(f"{n} {words}"), assistant(f"{n} {words}")) for n in range(turns)]

    def do_jobs(self, text: str = "They talked.", *, degraded: bool = False) -> list[str]:
        """Do every job that waits; their ids."""
        done = []
        for queue in (INTERACTIVE, BACKGROUND):
            while (claim := claims.claim(self.store, queue)) is not None:
                usage = {"input": 10, "output": 2}
                draft = SummaryDraft(text, degraded=degraded, summarizer="scripted", model="scripted/one", usage=usage)
                publish.publish(self.store, claim, draft)
                done.append(claim.job_id)
        return done


@contextmanager
def open_api(database: str, limits: Limits | None = None, **settings: Any) -> Iterator[Api]:
    """A service on a new database, and a client of it."""
    with opened_store(database, limits) as store:
        app = create_app(Settings(**settings), store)
        with served(app) as url, client(url) as connected:
            yield Api(connected, store, app)


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": text}


def calling(*call_ids: str) -> Json:
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in call_ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str, text: str = "seen") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def problem_of(response: httpx.Response) -> Json:
    """The problem document in an answer."""
    assert response.headers["content-type"] == MEDIA_TYPE, response.text[:500]
    document: Json = loads(response.content)
    assert document["status"] == response.status_code
    assert document["title"]
    assert document["detail"]
    return {**document, "name": document["type"].rpartition("/")[2]}


def check_answer(response: httpx.Response) -> None:
    """Fail unless the answer has the documented shape."""
    model = _model(response.request.method, response.request.url.path, response.status_code)
    if model is not None:
        model.model_validate(loads(response.content))


def documented_routes() -> list[tuple[str, APIRoute]]:
    """Every route the service has, by method."""
    routes = (route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))
    return [(method, route) for route in routes for method in sorted(route.methods or ())]


def documented_bodies() -> list[type[Body]]:
    """Every body a request may have."""
    return [model for model in vars(bodies).values() if isinstance(model, type) and issubclass(model, Body)]


def _model(method: str, path: str, status: int) -> Any:
    found = (route for name, route in documented_routes() if name == method and route.path_regex.match(path))
    # Running and ended jobs have the same shape.
    return next(found).responses.get(200 if status == httpx.codes.ACCEPTED else status, {}).get("model")
