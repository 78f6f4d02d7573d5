"""What request bodies may hold: models that check them and describe them on the API's page.

Text that users write is checked by hand, because pydantic refuses lone surrogates.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.windows import parse_size
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.log.storage import ids
from foldline_api.http.problems import InvalidRequest

LARGEST: Final = ids.LARGEST


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
Positive: TypeAlias = Annotated[int, Field(gt=0, le=LARGEST)]
Size: TypeAlias = Annotated[
    int,
    PlainValidator(_size),
    WithJsonSchema({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "string", "examples": ["128k"]}]}),
]


class Body(BaseModel):
    """Root of the request bodies: types are not converted, unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class Moving(Body):
    """A body of a request that moves the head."""

    parent: Text | None = Field(None, description="The entry that must be the newest message on the path, or later.")


class SessionBody(Body):
    """A new session."""

    id: Id | None = None
    model: Name = Field(description="As provider/name.", examples=["anthropic/claude-sonnet-4-5"])
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = None
    auto_compact: bool = True


class ImportBody(Body):
    """A session file, and what the session is to have else than the file says."""

    file: Text = Field(description="The text of a session file of pi: JSON Lines.")
    id: Id | None = Field(None, description="The file's own if left out.")
    model: Name | None = Field(None, description="As provider/name; the file's own if left out.")
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = Field(None, description='{"preset": "pi"} if left out.')
    auto_compact: bool = True


class ChangeBody(Body):
    """What of a session is to change; what is left out stays."""

    model: Name = Field("", description="As provider/name.")
    context_window: Size | None = None
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None
    policy: PolicyObject | None = None
    auto_compact: bool = True


class UsageBody(Body):
    """What a provider reported for a view, as it reported it."""

    version: Count = Field(description="The version of the view that was sent.")
    model: Name | None = Field(None, description="As provider/name; the session's if left out.")
    input: Count
    output: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0


class AppendBody(Moving):
    """Messages to add at the head."""

    messages: list[Any] = Field(description="In one wire format.")
    format: Name | None = Field(None, description="openai, anthropic or native; found out if left out.")
    usage: UsageBody | None = None


class CompactBody(Moving):
    """How to compact; all of it is optional."""

    instructions: Text | None = Field(None, description="What the summary should look at.")
    stages: list[StageName] | None = Field(None, description="These stages only, in this order.")
    target_tokens: Positive | None = None
    policy: PolicyObject | None = None
    summarize: bool | None = Field(None, description="Whether to ask for a summary; as the plan decides if left out.")
    dry_run: bool = Field(default=False, description="Say what it would do, and do nothing.")


class OverflowBody(Moving):
    """A provider's refusal."""

    error: TextOrObject = Field(
        description="What the provider answered: its text, or its JSON body.",
        examples=["prompt is too long: 213462 tokens > 200000 maximum"],
    )
    version: Count = Field(description="The version of the view that was sent: a later one is left alone.")
    provider: Name | None = Field(None, description="Who refused; found out from the wording if left out.")


class BranchBody(Moving):
    """Where to move the head."""

    entry_id: Text
    summarize: bool = Field(default=False, description="Whether to summarize what is left behind.")
    instructions: Text | None = Field(None, description="What that summary should look at.")


class PinBody(Moving):
    """A text to pin, or an entry whose text is copied."""

    text: Text | None = None
    entry_id: Text | None = None


class FileBody(Body):
    """A file that a pending call would carry."""

    path: Text
    size_bytes: Annotated[int, Field(ge=0, le=2**53)] | None = None
    content: Text | None = None


class PendingBody(Body):
    """A call that is about to be made."""

    prompt: Text | None = None
    tools: list[JsonObject] | None = Field(None, description="The session's if left out.")
    files: list[FileBody] = Field(default_factory=list)


class StatelessBody(Body):
    """Messages, and the model they are for."""

    messages: list[Any] = Field(description="In one wire format.")
    format: Name | None = Field(None, description="openai, anthropic or native; found out if left out.")
    model: Name | None = Field(None, description="As provider/name.")
    context_window: Size | None = Field(None, description="Needed where no model is given, or one that is not known.")
    max_output_tokens: Positive | None = None
    system: Text | None = None
    tools: list[JsonObject] | None = None


class StatelessCompactBody(StatelessBody):
    """Messages to compact."""

    policy: PolicyObject | None = None
    target_tokens: Positive | None = None
    stages: list[StageName] | None = None
    summarize: bool = Field(default=False, description="Put an extractive summary in the place of what is old.")
    max_images: Count | None = Field(None, description="As many of the newest images stay; all if left out.")
    max_image_bytes: Count | None = Field(None, description="What they may take together, as base64.")


class StatelessBudgetBody(StatelessBody):
    """Messages of a call that is about to be made."""

    messages: list[Any] = Field(default_factory=list)
    prompt: Text | None = None
    files: list[FileBody] = Field(default_factory=list)


B = TypeVar("B", bound=Body)


def checked(model: type[B], value: Any) -> B:
    """The value as this model.

    Raises:
        InvalidRequest: with the path of the first thing that is wrong.
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
