"""Query parameters that several routes take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from fastapi import Query

from foldline.engine.formats import FORMATS
from foldline.engine.ledger.items import ItemKind
from foldline.engine.recall.tool import LEAST_TOKENS, MOST_TOKENS, InvalidArguments, kinds_of
from foldline_api.http.problems import InvalidRequest
from foldline_api.schemas.bodies import LARGEST

Cursor: TypeAlias = Annotated[str | None, Query(description="The `next_cursor` of the previous page.")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500, description="The most items on the page.")]
ItemKinds: TypeAlias = Annotated[
    str | None, Query(description=f"Only items of these kinds, with commas between: {', '.join(ItemKind)}.")
]
Order: TypeAlias = Annotated[
    Literal["created", "last_message"],
    Query(description="Which come first: the oldest, or those that got a message last, which are on one page."),
]
Model: TypeAlias = Annotated[
    str | None, Query(description="Use another model's budget than the session's, as provider/name.")
]
MaxOutputTokens: TypeAlias = Annotated[
    int | None, Query(gt=0, le=LARGEST, description="Use another output reserve than the session's.")
]
MaxRecallTokens: TypeAlias = Annotated[
    int, Query(ge=LEAST_TOKENS, le=MOST_TOKENS, description="The most tokens that the answer's text may take.")
]
if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:
    # The names of a registry are not known to type checkers.
    FormatName = Literal[tuple(FORMATS)]
Format: TypeAlias = Annotated[FormatName, Query(alias="format", description="The wire format of the messages.")]


def kinds_in(kinds: str | None) -> frozenset[ItemKind]:
    """The kinds of items in the parameter `kinds`.

    Raises:
        InvalidRequest: one of them is none.
    """
    try:
        return kinds_of(kinds.split(",") if kinds else ())
    except InvalidArguments as error:
        raise InvalidRequest("query.kinds", str(error).removeprefix("kinds: ")) from error
