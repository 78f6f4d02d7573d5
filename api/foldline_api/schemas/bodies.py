"""Request bodies: models that check them and describe them in the OpenAPI document.

Text is checked by functions of this module, because pydantic refuses lone surrogates.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from foldline.engine.errors import InvalidPolicy
from foldline.engine.formats import FORMATS
from foldline.engine.models.windows import parse_size
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.log.access.api_keys import KeyScope
from foldline.log.storage import ids
from foldline.settings import DAYS_MAX
from foldline_api.http.problems import InvalidRequest

LARGEST: Final = ids.LARGEST
MESSAGES: Final = "Messages in one wire format."
*_OTHERS, _LAST = FORMATS
FORMAT: Final = f"The wire format: {', '.join(_OTHERS)} or {_LAST}. Default: recognized by the messages."


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise PydanticCustomError("text", "Input should be text")


def _json_object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise PydanticCustomError("json_object", "Input should be an object")


def _policy(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    preset = value if isinstance(value, str) and value in PRESETS else DEFAULT_PRESET
    raise PydanticCustomError(
        "policy", "Input should be an object, as in {example}", {"example": f'{{"preset": "{preset}"}}'}
    )


def _stage_name(value: Any) -> Any:
    if isinstance(value, dict):
        raise PydanticCustomError("stage", "Input should be a stage's name; parameters go into policy.stages")
    return value


def _text_or_object(value: Any) -> str | dict[str, Any]:
    if isinstance(value, str | dict):
        return value
    raise PydanticCustomError("text_or_object", "Input should be text or an object")


def _size(value: Any) -> int:
    size = parse_size(value)
    if size > LARGEST:
        raise InvalidPolicy("context_window", f"must be at most {LARGEST} tokens")
    return size


def _moment(value: Any) -> int:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None and moment.tzinfo is not None:
            return int(moment.astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        # Neither is a time that can be shown.
        pass
    raise PydanticCustomError("moment", "Input should be a time with its zone, as in 2030-01-31T12:00:00Z")


Text: TypeAlias = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string"})]
JsonObject: TypeAlias = Annotated[dict[str, Any], PlainValidator(_json_object), WithJsonSchema({"type": "object"})]
PolicyObject: TypeAlias = Annotated[dict[str, Any], PlainValidator(_policy), WithJsonSchema({"type": "object"})]
TextOrObject: TypeAlias = Annotated[
    str | dict[str, Any],
    PlainValidator(_text_or_object),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
Id: TypeAlias = Annotated[str, Field(pattern=ids.ID)]
Name: TypeAlias = Annotated[str, Field(pattern=ids.NAME)]
StageName: TypeAlias = Annotated[Name, BeforeValidator(_stage_name)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST)]
Share: TypeAlias = Annotated[float, Field(gt=0, le=1)]
Positive: TypeAlias = Annotated[int, Field(gt=0, le=LARGEST)]
Scope: TypeAlias = Annotated[KeyScope, Field(strict=False)]
# Milliseconds since the epoch.
Moment: TypeAlias = Annotated[int, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
Days: TypeAlias = Annotated[int, Field(ge=1, le=DAYS_MAX)]
Size: TypeAlias = Annotated[
    int,
    PlainValidator(_size),
    WithJsonSchema({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "string", "examples": ["128k"]}]}),
]


RETENTION = "Days after its last message when the session is deleted. Default: FOLDLINE_RETENTION_DAYS of the service."


class Body(BaseModel):
    """Root of the request bodies. Types are not converted, and unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class Moving(Body):
    """The body of a request that moves the head."""

    parent: Text | None = Field(
        None,
        description="The newest message that the caller knows, or a later entry. If there is a newer message, "
        "the request is refused.",
    )


class SessionBody(Body):
    """A new session."""

    id: Id | None = None
    model: Name = Field(description="The model, as provider/name.", examples=["anthropic/claude-sonnet-4-5"])
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = Field(None, description="Default: that of the service, FOLDLINE_POLICY.")
    auto_compact: bool | None = Field(None, description="Default: that of the service, FOLDLINE_AUTO_COMPACT.")
    retention_days: Days | None = Field(None, description=RETENTION)


class ImportBody(Body):
    """A session file, and fields of the session that replace those of the file."""

    file: Text = Field(description="The text of a session file of pi, which is JSON Lines.")
    id: Id | None = Field(None, description="Default: the id in the file.")
    model: Name | None = Field(None, description="The model, as provider/name. Default: the model in the file.")
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = Field(None, description='Default: `{"preset": "pi"}`.')
    auto_compact: bool = True
    retention_days: Days | None = Field(None, description=RETENTION)


class ChangeBody(Body):
    """The fields of a session to change; others stay."""

    model: Name = Field("", description="The model, as provider/name.")
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = None
    auto_compact: bool = True
    retention_days: Days | None = Field(None, description=RETENTION)


class UsageBody(Body):
    """The usage that a provider reported for a view, as it reported it."""

    version: Count = Field(description="The version of the view that the provider received.")
    model: Name | None = Field(None, description="The model, as provider/name. Default: the session's.")
    input: Count
    output: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0


class AppendBody(Moving):
    """Messages to append at the head."""

    messages: list[Any] = Field(description=MESSAGES)
    format: Name | None = Field(None, description=FORMAT)
    usage: UsageBody | None = None


class CompactBody(Moving):
    """How to compact. Every field is optional."""

    instructions: Text | None = Field(None, description="Instructions for the summary.")
    stages: list[StageName] | None = Field(
        None, description="The stages to run, in this order. Default: those of the policy."
    )
    target_tokens: Positive | None = Field(None, description="How far down to compact. Default: the policy's target.")
    policy: PolicyObject | None = Field(None, description="A policy for this request alone.")
    summarize: bool | None = Field(None, description="Whether to request a summary. Default: the stages decide.")
    dry_run: bool = Field(default=False, description="Answer with what would happen, and change nothing.")


class CutAnswerBody(Body):
    """An answer without an error, whose view the provider may have cut without saying so."""

    stop: Name = Field(description="Why the answer ended, as the provider says it, such as `stop` or `length`.")
    input: Count = Field(description="All tokens of the prompt, those from a cache included.")
    output: Count = 0


class OverflowBody(Moving):
    """The error with which a provider refused a view, or an answer to a view that may have been too long."""

    error: TextOrObject | None = Field(
        None,
        description="The provider's error: its text or its JSON body, or that of a client library with its `cause`.",
        examples=["prompt is too long: 213462 tokens > 200000 maximum"],
    )
    answer: CutAnswerBody | None = Field(None, description="In place of `error`.")
    version: Count = Field(description="The version of the refused view. A later version is not compacted.")
    provider: Name | None = Field(None, description="The provider. Default: recognized by the wording.")


class BranchBody(Moving):
    """The entry to move the head to."""

    entry_id: Text
    summarize: bool = Field(
        default=False, description="Whether to summarize the messages that the new head does not see."
    )
    instructions: Text | None = Field(None, description="Instructions for that summary.")


class PinBody(Moving):
    """A text to pin, or an entry whose text to copy."""

    text: Text | None = None
    entry_id: Text | None = None


class FileBody(Body):
    """A file of the next call: its content, or its size."""

    path: Text
    size_bytes: Annotated[int, Field(ge=0, le=2**53)] | None = None
    content: Text | None = None


class KeyBody(Body):
    """A new API key of the caller's tenant."""

    name: Name = Field(description="What the key is for, as lists show it.")
    scopes: list[Scope] = Field(
        min_length=1, description=f"What it may do: {', '.join(KeyScope)}. None includes another."
    )
    expires_at: Moment | None = Field(None, description="When it stops working. Default: never.")


class PendingBody(Body):
    """The parts of the next call that are not in the session yet."""

    prompt: Text | None = None
    tools: list[JsonObject] | None = Field(None, description="Default: the session's.")
    files: list[FileBody] = Field(default_factory=list)
    files_share: Share | None = Field(
        None,
        description="What all files together get of the room that the rest leaves. Default: 0.6 under the presets of "
        "NeuroLink, else 1.",
    )
    threshold: Share | None = Field(None, description="The `trigger_ratio` to compare with. Default: the policy's.")


class RecallToolBody(Body):
    """The wire format of a recall tool, and a call of it; without a call, the tool's definition is asked for."""

    format: Name = Field(description=f"The wire format: {', '.join(_OTHERS)} or {_LAST}.")
    call: JsonObject | None = Field(None, description="A call of the tool, as the model made it in this format.")


class StatelessBody(Body):
    """Messages, and the model that receives them."""

    messages: list[Any] = Field(description=MESSAGES)
    format: Name | None = Field(None, description=FORMAT)
    model: Name | None = Field(None, description="The model, as provider/name.")
    context_window: Size | None = Field(
        None, description="Required without a model, and for a model that is not known."
    )
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None


class StatelessCompactBody(StatelessBody):
    """Messages to compact."""

    policy: PolicyObject | None = None
    target_tokens: Positive | None = None
    stages: list[StageName] | None = None
    summarize: bool = Field(default=False, description="Replace old messages by an extractive summary.")
    max_images: Count | None = Field(None, description="How many of the newest images stay. Default: the policy's.")
    max_image_bytes: Count | None = Field(None, description="The most bytes of these images together, as base64.")


class StatelessBudgetBody(StatelessBody):
    """The parts of a call to count."""

    messages: list[Any] = Field(default_factory=list)
    prompt: Text | None = None
    files: list[FileBody] = Field(default_factory=list)


B = TypeVar("B", bound=Body)


def checked(model: type[B], value: Any) -> B:
    """The value as an instance of the model.

    Raises:
        InvalidRequest: the value does not fit the model; the error has the path of the first field that does not.
    """
    if not isinstance(value, dict):
        raise InvalidRequest("body", "must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise InvalidRequest(_path(first["loc"]), first["msg"]) from None


def _path(loc: tuple[int | str, ...]) -> str:
    """As in `files[3].path`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")
