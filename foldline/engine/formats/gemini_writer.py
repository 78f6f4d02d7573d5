"""Writes canonical messages as Google Gemini's `contents`; `gemini` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Self

from foldline.engine.arguments import json_object
from foldline.engine.formats import marks
from foldline.engine.formats.checked import in_either_case, snake_case
from foldline.engine.formats.contract import Wire, Writer
from foldline.engine.formats.ids import WireIds, rewritten
from foldline.engine.messages import (
    SEALED_KINDS,
    Image,
    JsonObject,
    Message,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME: Final = "gemini"
ID_PATTERN: Final = re.compile(r".+", re.DOTALL)
# The narrower of the limits that Google documents; the other is 128.
NAME_PATTERN: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
# What a URL without a media type is taken for, by its ending; Google wants a type for each.
_TYPE_BY_ENDING: Final = {"png": "image/png", "webp": "image/webp", "heic": "image/heic", "heif": "image/heif"}
_USUAL_TYPE: Final = "image/jpeg"

# The first call of each step needs a signature for Gemini 3. This one Google documents for calls that have none because
# another model made them, or because nobody has it any more; it takes another for the same.
STAND_IN: Final = "skip_thought_signature_validator"
STAND_INS: Final = frozenset({STAND_IN, "context_engineering_is_the_way_to_go"})
_SIGNATURES: Final = frozenset({"thoughtSignature", "thought_signature"})

# What a part may consist of, one of these; and what has to be a string in it.
KINDS_OF_DATA: Final = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
_STRINGS: Final[Mapping[str, tuple[str, ...]]] = {"inlineData": ("data", "mimeType"), "fileData": ("fileUri",)}

# Where arguments that are not a JSON object go: `args` must be one.
RAW_ARGUMENTS: Final = "_raw"
# Every response names its function, which results of other formats need not do.
UNKNOWN_TOOL: Final = "unknown"


class CallShown(NamedTuple):
    """A call as it is written: the name of its function, and its id, None if the call is written without one."""

    name: str
    id: str | None


class GeminiWriter(Writer):
    """Writes contents; the system text stays beside them."""

    def __init__(self, _system: str | None, _model: str | None = None) -> None:
        super().__init__()
        self._ids = WireIds(ID_PATTERN, unique=False)
        # The calls of the last batch that wait for their responses, by wire id.
        self._shown: dict[str, CallShown] = {}
        # How many results the last content begins with; what belongs to its answer can join it if there is one.
        self._results = 0
        # Whether the last content may be somebody's source.
        self._is_shared = False
        self._images: list[Wire] = []

    def copy(self) -> Self:
        """A writer that goes on from here without changing this one."""
        self._is_shared = True
        return super().copy()

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._add_result(message)
        elif message.joined and self._results and _is_own(message):
            self._joinable().extend(self._parts(message, message.parts))
        else:
            self._place_images()
            if message.role == "assistant":
                self._add_answer(message)
            else:
                self._add_input(message)

    def finish(self) -> None:
        """Put the images of the last batch after it."""
        self._place_images()

    def _place_images(self) -> None:
        """Put the images of a batch's results into a content after them: not every model takes them in a response."""
        if self._images:
            self._append({"role": "user", "parts": [_text(marks.IMAGES_ABOVE), *self._images]})
            self._images = []

    def _append(self, content: Wire, *, has_calls: bool = False) -> None:
        is_first = not self.messages
        if content.get("role") == "model" and (is_first or (has_calls and self.messages[-1].get("role") == "model")):
            # The user begins, and a content with calls follows one of the user.
            self.messages.append({"role": "user", "parts": [_text(marks.OPENING)]})
        self.messages.append(content)
        self._results = 0
        self._is_shared = True

    def _joinable(self) -> list[Wire]:
        """The parts of the last content to add to, of a copy of it if need be."""
        if self._is_shared:
            last = self.messages[-1]
            self.messages[-1] = {**last, "parts": list(last["parts"])}
            self._is_shared = False
        parts: list[Wire] = self.messages[-1]["parts"]
        return parts

    def _add_input(self, message: Message) -> None:
        source = _own_source(message)
        if source is not None and message.role == "user" and _is_valid(message):
            self._append(_as_user(source))
            return
        parts = list(self._parts(message, message.parts))
        if message.role == "user":
            self._append({**_as_user(source or {"role": "user"}), "parts": parts or [_text(marks.EMPTY)]})
        else:
            self._append({"role": "user", "parts": [_text(marks.speaker(message.role)), *parts]})

    def _add_answer(self, message: Message) -> None:
        wire_ids = self._ids.calls([call.id for call in message.calls])
        shown = _calls_shown(message, wire_ids)
        if shown:
            self._shown = dict(zip(wire_ids, shown, strict=True))
        source = _own_source(message)
        if source is None or not _is_valid(message) or wire_ids != [call.id for call in message.calls]:
            parts = list(self._answer_parts(message, shown))
            source = {**(source or {"role": "model"}), "parts": parts} if parts else None
        if source is not None:
            self._append(source, has_calls=bool(shown))

    def _answer_parts(self, message: Message, shown: Sequence[CallShown]) -> Iterator[Wire]:
        calls = iter(shown)
        # The signature of the next part, which was read as reasoning before it.
        signature: JsonObject = {}
        for part in message.parts:
            if _is_signature(message, part):
                self.lossy += bool(signature)
                signature = part.source or {}
                continue
            if isinstance(part, ToolCall):
                written = [self._wire_call(message, part, next(calls))]
            else:
                written = list(self._parts(message, [part]))
            yield from self._signed(message, part, written, signature)
            signature = {}
        self.lossy += bool(signature)

    def _signed(self, message: Message, part: Part, written: list[Wire], signature: JsonObject) -> Iterator[Wire]:
        """What was written of a part, with its signature if it is as it came."""
        is_as_it_came = bool(written) and _own_part(message, part) is not None
        self.lossy += bool(signature) and not is_as_it_came
        is_first_call = part is next(iter(message.calls), None)
        for wire in written:
            signed = {**wire, **signature} if is_as_it_came else wire
            yield _standing_in(signed) if is_first_call else signed

    def _wire_call(self, message: Message, call: ToolCall, shown: CallShown) -> Wire:
        own = _own_part(message, call)
        if own is not None:
            return _with(own, "functionCall", _id(shown.id))
        arguments = json_object(call.arguments)
        if arguments is None:
            self.lossy += 1
            arguments = {RAW_ARGUMENTS: call.arguments}
        return {"functionCall": {**_id(shown.id), "name": shown.name, "args": arguments}}

    def _add_result(self, message: Message) -> None:
        result = message.result
        if result is None:
            return
        wire_id = self._ids.result(result.call_id)
        part = self._wire_result(message, result, self._shown.pop(wire_id, None), wire_id)
        source = _own_source(message)
        if self._results:
            # The results first, as `gemini` reads them: a text between them would move when it is read back.
            self._joinable().insert(self._results, part)
        elif source is not None and part == result.source:
            self._append(_as_user(source))
        else:
            self._append({**_as_user(source or {"role": "user"}), "parts": [part]})
        self._results += 1

    def _wire_result(self, message: Message, result: ToolResult, shown: CallShown | None, wire_id: str) -> Wire:
        own = _own_part(message, result)
        if own is not None:
            return dict(own) if shown is None else _answer_to(shown, own)
        name, call_id = shown or CallShown(_wire_name(result.name or UNKNOWN_TOOL), wire_id)
        response = {"error" if result.is_error else "output": "\n".join(self._result_texts(message, result))}
        return {"functionResponse": {**_id(call_id), "name": name, "response": response}}

    def _result_texts(self, message: Message, result: ToolResult) -> Iterator[str]:
        for part in result.content:
            if isinstance(part, Text):
                yield part.text
            elif isinstance(part, Image):
                image = _image(message, part)
                self.lossy += image is None
                self._images += [] if image is None else [image]
                yield marks.IMAGE if image is None else marks.IMAGE_BELOW
            elif part.kind not in SEALED_KINDS:
                self.lossy += 1
                yield marks.left_out(part)
            else:
                self.lossy += 1

    def _parts(self, message: Message, parts: Iterable[Part]) -> Iterator[Wire]:
        """The wire parts of all but calls and results."""
        for part in parts:
            if isinstance(part, Image):
                image = _image(message, part) if message.role != "assistant" or _is_own(message) else None
                yield self._mark(marks.IMAGE) if image is None else image
            elif _is_unsendable(message, part):
                self.lossy += 1
            elif (own := _own_part(message, part)) is not None:
                yield dict(own)
            elif isinstance(part, Text):
                yield _text(part.text)
            elif isinstance(part, Other):
                yield self._mark(marks.left_out(part))

    def _mark(self, text: str) -> Wire:
        self.lossy += 1
        return _text(text)


def _is_own(message: Message) -> bool:
    return message.format == NAME


def _own_part(message: Message, part: Part) -> JsonObject | None:
    """The part as it came in, if it came in this format and may go out."""
    return part.source if _is_own(message) and part.source is not None and _is_whole(part.source) else None


def _is_whole(part: JsonObject) -> bool:
    """Whether Google takes a part of this format: one kind of data with all that it needs, and a text as signature."""
    if part.keys() == {"text"}:
        return True
    kinds = [kind for kind in KINDS_OF_DATA if in_either_case(part, kind) is not None]
    values = (in_either_case(in_either_case(part, kind), key) for kind in kinds for key in _STRINGS.get(kind, ()))
    signatures = (part[key] for key in _SIGNATURES if part.get(key) is not None)
    return len(kinds) <= 1 and all(isinstance(value, str) for value in (*values, *signatures))


def _own_source(message: Message) -> Wire | None:
    source = message.source if _is_own(message) else None
    return source if source is None or isinstance(source, dict) else dict(source)


def _as_user(content: Wire) -> Wire:
    """The content with the user's role, if it has another: Google takes no older names of roles any more."""
    return content if content.get("role") in {None, "user"} else {**content, "role": "user"}


def _is_valid(message: Message) -> bool:
    """Whether a message that came in may go out as it is."""
    return bool(message.parts) and not any(
        _is_unsendable(message, part) or (part.source is not None and not _is_whole(part.source))
        for part in message.parts
    )


def _is_unsendable(message: Message, part: Part) -> bool:
    """Whether a part has no place in a request: empty text, and reasoning that is another provider's or empty."""
    if isinstance(part, Text):
        return not part.text
    if isinstance(part, Thinking):
        return _own_part(message, part) is None or not (part.text or part.signature)
    return isinstance(part, Other) and part.kind in SEALED_KINDS and not _is_own(message)


def _standing_in(call: Wire) -> Wire:
    """The part of a call, with the stand-in if it has no signature."""
    if any(call.get(key) for key in _SIGNATURES):
        return call
    return {**{key: value for key, value in call.items() if key not in _SIGNATURES}, "thoughtSignature": STAND_IN}


def _is_signature(message: Message, part: Part) -> bool:
    """Whether a part is the signature of the part after it."""
    own = _own_part(message, part)
    return isinstance(part, Thinking) and own is not None and own.keys() <= _SIGNATURES


def _calls_shown(message: Message, wire_ids: Sequence[str]) -> list[CallShown]:
    """How to write the calls of a message: an own one as it came, and all without an id if one came without."""
    own = [call.source if _is_own(message) else None for call in message.calls]
    have_ids = [source is None or bool(in_either_case(source, "functionCall").get("id")) for source in own]
    return [
        CallShown(
            call.name if _is_own(message) else _wire_name(call.name),
            wire_id if has_id and (source is not None or all(have_ids)) else None,
        )
        for call, wire_id, source, has_id in zip(message.calls, wire_ids, own, have_ids, strict=True)
    ]


def _answer_to(shown: CallShown, own: JsonObject) -> Wire:
    """An own response part; it need not say the id of its call, but may not say another one or another name."""
    says_id = bool(in_either_case(own, "functionResponse").get("id"))
    return _with(own, "functionResponse", {"name": shown.name, **({"id": shown.id} if says_id else {})})


def _with(part: JsonObject, kind: str, values: JsonObject) -> Wire:
    """The part with these values in its data, and without those that are None."""
    key = kind if part.get(kind) is not None else snake_case(kind)
    data = {**part[key], **values}
    return {**part, key: {name: data[name] for name in data if values.get(name, name) is not None}}


def _id(call_id: str | None) -> Wire:
    return {} if call_id is None else {"id": call_id}


def _wire_name(name: str) -> str:
    if NAME_PATTERN.fullmatch(name):
        return name
    return rewritten(name if name[:1] not in "-0123456789" else f"_{name}")


def _image(message: Message, image: Image) -> Wire | None:
    own = _own_part(message, image)
    if own is not None:
        return dict(own)
    if image.data is not None and image.media_type in IMAGE_TYPES:
        return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
    if image.data is None and image.url is not None and image.url.startswith(("https://", "http://")):
        ending = image.url.partition("?")[0].rpartition(".")[2].lower()
        media_type = image.media_type or _TYPE_BY_ENDING.get(ending, _USUAL_TYPE)
        return {"fileData": {"fileUri": image.url, "mimeType": media_type}}
    return None


def _text(text: str) -> Wire:
    return {"text": text}
