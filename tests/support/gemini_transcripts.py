"""Hypothesis strategies for transcripts as Google Gemini contents: well-formed and messy ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from foldline.engine.formats.checked import snake_case
from tests.support.transcripts import PNG, TOOLS, Wire, inputs, json_values, texts, visible_texts

NAMES = (*TOOLS, "_run", "mcp.server:look-up")
SIGNATURES = st.sampled_from(("c2ln", "CiQB0e2Kb4fV", "s" * 300))
SEEN = {"inlineData": {"mimeType": "image/png", "data": PNG}}
LINKED = {"fileData": {"fileUri": "https://example.com/a.png", "mimeType": "image/png"}}
PDF = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}
VIDEO = {"fileData": {"fileUri": "gs://bucket/v.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1}}
RUN = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
RAN = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
SEARCHED = {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH", "args": {"queries": ["a"]}}}
FUTURE = {"holograms": [1, 2], "thought": False}
CARRIER = {"text": "", "thoughtSignature": "c2ln"}
_OF_MODEL = st.sampled_from((RUN, RAN, SEARCHED, SEEN, FUTURE, CARRIER))

text_parts: st.SearchStrategy[Wire] = st.builds(lambda text: {"text": text}, texts.filter(bool))
user_parts: st.SearchStrategy[Wire] = text_parts | st.sampled_from((SEEN, LINKED, PDF, VIDEO, FUTURE))
responses: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.builds(lambda key, text: {key: text}, st.sampled_from(("output", "result", "error")), texts),
    st.dictionaries(visible_texts, json_values, max_size=3),
)


@st.composite
def _calling(draw: st.DrawFn, serial: int, *, is_signed: bool, has_ids: bool) -> Wire:
    """A content of the model with one to four calls."""
    parts = draw(st.lists(text_parts | _thoughts | _OF_MODEL, max_size=2))
    for index in range(draw(st.integers(1, 4))):
        call: Wire = {"name": draw(st.sampled_from(NAMES))}
        call |= {"id": f"fc_{serial}_{index}"} if has_ids else {}
        call |= {} if draw(st.booleans()) else {"args": draw(inputs)}
        signed = {"thoughtSignature": draw(SIGNATURES)} if is_signed and (index == 0 or draw(st.booleans())) else {}
        parts.append({"functionCall": call, **signed})
    return {"role": "model", "parts": parts}


@st.composite
def _signed_text(draw: st.DrawFn) -> Wire:
    return {**draw(text_parts), "thoughtSignature": draw(SIGNATURES)}


@st.composite
def _thought(draw: st.DrawFn) -> Wire:
    signed = draw(st.booleans())
    signature = {"thoughtSignature": draw(SIGNATURES)} if signed else {}
    return {"text": draw(texts if signed else texts.filter(bool)), "thought": True, **signature}


_thoughts = _thought() | _signed_text()


@st.composite
def _answering(draw: st.DrawFn, calling: Wire) -> Wire:
    """The content that answers all calls, in any order; clients need not repeat the ids."""
    calls = [part["functionCall"] for part in calling["parts"] if "functionCall" in part]
    says_ids = draw(st.booleans())
    parts = []
    for call in draw(st.permutations(calls)) if says_ids else calls:
        answer = {key: call[key] for key in ("id", "name") if key in call and (says_ids or key == "name")}
        response = draw(responses)
        answer |= {} if response is None else {"response": response}
        answer |= {"parts": [draw(st.sampled_from((SEEN, PDF)))]} if draw(st.booleans()) else {}
        parts.append({"functionResponse": answer})
    return {"role": "user", "parts": [*parts, *draw(st.lists(user_parts, max_size=1))]}


def _snake(value: Any) -> Any:
    """A content with its keys in snake case, but for those inside arguments and responses."""
    if isinstance(value, list):
        return [_snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        snake_case(key): content if key in {"args", "response"} else _snake(content) for key, content in value.items()
    }


@st.composite
def gemini_wire_messages(draw: st.DrawFn, *, signed: bool | None = None) -> list[Wire]:
    """A well-formed Gemini transcript: calls with and without ids, signatures on any part, code, files, either case.

    Gemini 3 signs the first call of each content; older models sign none. `signed` says which; None takes both.
    """
    is_signed = draw(st.booleans()) if signed is None else signed
    contents: list[Wire] = []
    for serial in range(draw(st.integers(1, 4))):
        role = draw(st.sampled_from(({"role": "user"}, {"role": "user"}, {})))
        contents.append({**role, "parts": draw(st.lists(user_parts, min_size=1, max_size=3))})
        for index in range(draw(st.integers(0, 2))):
            calling = draw(_calling(serial * 10 + index, is_signed=is_signed, has_ids=draw(st.booleans())))
            contents += [calling, draw(_answering(calling))]
        if draw(st.booleans()):
            parts = st.lists(text_parts | _thoughts | _OF_MODEL, min_size=1, max_size=3)
            contents.append({"role": "model", "parts": draw(parts)})
    return _snake(contents) if draw(st.booleans()) else contents


odd_contents: st.SearchStrategy[Wire] = st.sampled_from(
    (
        {"role": "model", "parts": []},
        {"role": "model"},
        {"role": "model", "parts": [{"text": ""}]},
        {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": None}}]},
        {"role": "user", "parts": []},
        {"role": "user", "parts": [{"text": ""}, {"text": "go"}]},
        {"role": "user", "parts": [{}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "bash", "response": {"output": "late"}}}]},
        {"role": "user", "parts": [{"text": "first"}, {"functionResponse": {"name": "grep", "id": "nobody's"}}]},
        {"role": "system", "parts": [{"text": "Be brief."}]},
    )
)


@st.composite
def messy_gemini_messages(draw: st.DrawFn) -> list[Wire]:
    """A transcript as real clients may send it: contents that are dropped, repeated, empty, or answer nothing."""
    contents = draw(gemini_wire_messages())
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(contents)))
        change = draw(st.sampled_from(("insert", "repeat", "drop")))
        if change == "insert" or not contents:
            contents.insert(place, draw(odd_contents))
        elif change == "repeat":
            contents.insert(place, dict(draw(st.sampled_from(contents))))
        else:
            contents.pop(min(place, len(contents) - 1))
    return contents
