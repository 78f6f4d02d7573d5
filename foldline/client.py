"""An HTTP client of a Foldline service, which measures how long each kind of request takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import httpx
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_exponential

from foldline.engine.wire import dumps, loads
from foldline.terminal import CommandFailed, ExitCode

JsonDict = dict[str, Any]
# Far above any promise; a request that takes longer fails.
TIMEOUT_SECONDS = 120.0
PAGE_ITEMS = 200
# How long a request is repeated of which the service does not know whether it was done.
REPEATING_SECONDS = 30.0
MAY_BE_DONE = frozenset({"/problems/outcome-unknown", "/problems/idempotency-in-flight"})
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Refused(Exception):
    """The service refused a request; `problem` is its problem document, and `name` the last segment of the type."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.name = str(problem.get("type", "")).rpartition("/")[2] or f"status-{status}"
        self.detail = str(problem.get("detail") or problem.get("title") or "")
        super().__init__(f"{status} {self.name}: {self.detail}")


def in_use(latest: Sequence[JsonDict]) -> JsonDict | None:
    """The session that agents use now, of those that got a message last, the newest first.

    One without tools, such as for a title, is taken only if all are: its model calls none.
    """
    return next((session for session in latest if session["tools"]), latest[0] if latest else None)


class Client:
    """The routes that commands need. `seconds` has the duration of every request by kind, such as `append`.

    Raises:
        CommandFailed: the URL is invalid; or, from any method, the service does not answer or wants a key.
        Refused: from any method, the service refused the request.
    """

    def __init__(self, url: str, api_key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self.url = url.rstrip("/")
        self.seconds: dict[str, list[float]] = defaultdict(list)
        try:
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout_seconds, trust_env=False)
        except httpx.InvalidURL as error:
            raise CommandFailed(f"--url: {self.url} is not a URL: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def create_session(self, body: JsonDict) -> JsonDict:
        return self._call("create", "POST", "/sessions", body)

    def session(self, session_id: str) -> JsonDict:
        return self._call("session", "GET", f"/sessions/{session_id}")

    def append(self, session_id: str, messages: list[JsonDict], format_name: str) -> JsonDict:
        return self._call(
            "append", "POST", f"/sessions/{session_id}/messages", {"messages": messages, "format": format_name}
        )

    def context(self, session_id: str, format_name: str) -> JsonDict:
        return self._call("context", "GET", f"/sessions/{session_id}/context?format={format_name}")

    def unfitted(self, session_id: str, format_name: str) -> JsonDict:
        """The view, also if it does not fit its budget."""
        return self._call("unfitted", "GET", f"/sessions/{session_id}/context?format={format_name}&fit=none")

    def compact(self, session_id: str, body: JsonDict | None = None, *, wait_seconds: int = 0) -> JsonDict:
        """What a compaction did. If it needs a job, the service waits for that, so long at most."""
        return self._call(
            "compact", "POST", f"/sessions/{session_id}/compact", body or {}, {"Prefer": f"wait={wait_seconds}"}
        )

    def stats(self, session_id: str) -> JsonDict:
        return self._call("stats", "GET", f"/sessions/{session_id}/stats")

    def undo(self, session_id: str, compaction_id: str) -> JsonDict:
        return self._call("undo", "POST", f"/sessions/{session_id}/compactions/{compaction_id}/undo", {})

    def redo(self, session_id: str) -> JsonDict:
        return self._call("redo", "POST", f"/sessions/{session_id}/redo", {})

    def pin(self, session_id: str, text: str) -> JsonDict:
        return self._call("pin", "POST", f"/sessions/{session_id}/pins", {"text": text})

    def recall(self, session_id: str, format_name: str, call: JsonDict) -> JsonDict:
        """The message that answers a model's call of the recall tool, as `result`."""
        return self._call(
            "recall", "POST", f"/sessions/{session_id}/recall/tool", {"format": format_name, "call": call}
        )

    def ledger(self, session_id: str, kinds: Iterable[str]) -> Iterator[JsonDict]:
        """The items of these kinds, oldest first."""
        return self.items(f"/sessions/{session_id}/ledger", kinds=",".join(kinds))

    def latest_sessions(self, limit: int) -> list[JsonDict]:
        """The sessions that got a message last, the last one first."""
        found: list[JsonDict] = self._call("list", "GET", f"/sessions?order=last_message&limit={limit}")["items"]
        return found

    def import_file(self, body: JsonDict) -> JsonDict:
        return self._call("import", "POST", "/import", body)

    def export(self, session_id: str) -> str:
        """The session as a session file of pi."""
        response = self._answered("export", "GET", f"/sessions/{session_id}/export", None)
        if not response.is_success:
            raise self._refusal(response)
        return response.content.decode()

    def jobs(self, session_id: str) -> list[JsonDict]:
        return list(self.items(f"/sessions/{session_id}/jobs"))

    def compactions(self, session_id: str) -> list[JsonDict]:
        return list(self.items(f"/sessions/{session_id}/compactions"))

    def compaction(self, session_id: str, compaction_id: str) -> JsonDict:
        """A compaction with its summary."""
        return self._call("compaction", "GET", f"/sessions/{session_id}/compactions/{compaction_id}")

    def entries(self, session_id: str) -> Iterator[JsonDict]:
        return self.items(f"/sessions/{session_id}/entries")

    def items(self, path: str, **parameters: str) -> Iterator[JsonDict]:
        """All items of a list, oldest first; pages are fetched as needed."""
        cursor: str | None = None
        while True:
            page = self.page(path, cursor, **parameters)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def page(self, path: str, cursor: str | None, **parameters: str) -> JsonDict:
        """One page of a list."""
        given = parameters if cursor is None else {**parameters, "cursor": cursor}
        query = httpx.QueryParams({"limit": PAGE_ITEMS, **given})
        return self._call("list", "GET", f"{path}?{query}")

    def _call(
        self, kind: str, method: str, path: str, body: JsonDict | None = None, headers: Mapping[str, str] = NOTHING
    ) -> JsonDict:
        response = self._answered(kind, method, path, body, headers)
        answer = _json(response)
        if response.is_success and isinstance(answer, dict):
            return answer
        raise self._refusal(response)

    def _answered(
        self, kind: str, method: str, path: str, body: JsonDict | None, headers: Mapping[str, str] = NOTHING
    ) -> httpx.Response:
        started = perf_counter()
        response = self._send(method, path, body, headers)
        self.seconds[kind].append(perf_counter() - started)
        return response

    def _refusal(self, response: httpx.Response) -> Exception:
        if response.status_code == httpx.codes.UNAUTHORIZED:
            return CommandFailed(f"{self.url} needs a key; give --api-key, or set FOLDLINE_API_KEY")
        answer = _json(response)
        return Refused(response.status_code, answer if isinstance(answer, dict) else {})

    def _send(self, method: str, path: str, body: JsonDict | None, headers: Mapping[str, str]) -> httpx.Response:
        content = None if body is None else dumps(body)
        # With a key, what may be done already is repeated and done once.
        key = {"Idempotency-Key": uuid4().hex} if method == "POST" else NOTHING
        given = {"Content-Type": "application/json", **key, **headers}
        try:
            return _repeating(self._http.request, method, path, content=content, headers=given)
        except httpx.HTTPError as error:
            what = str(error) or type(error).__name__
            raise CommandFailed(
                f"no answer from {self.url} to {method} {path}: {what}. Is the service running?",
                ExitCode.SERVICE_FAILED,
            ) from error


def _may_be_done(response: httpx.Response) -> bool:
    """Whether the service says that it does not know, or works on it: the same request gets the answer."""
    if response.status_code not in {httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.CONFLICT}:
        return False
    answer = _json(response)
    return isinstance(answer, dict) and answer.get("type") in MAY_BE_DONE


_repeating: Final = Retrying(
    retry=retry_if_result(_may_be_done),
    wait=wait_exponential(multiplier=0.1, max=2),
    stop=stop_after_delay(REPEATING_SECONDS),
    retry_error_callback=lambda state: state.outcome and state.outcome.result(),
)


def _json(response: httpx.Response) -> Any:
    try:
        return loads(response.content)
    except ValueError:
        return None
