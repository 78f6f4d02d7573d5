"""Query parameters that several routes take."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from fastapi import Query

from foldline_api.schemas.bodies import LARGEST

Cursor: TypeAlias = Annotated[str | None, Query(description="The `next_cursor` of the page before.")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500, description="Most items on the page.")]
Model: TypeAlias = Annotated[str | None, Query(description="Reckon with another model, as provider/name.")]
MaxOutputTokens: TypeAlias = Annotated[int | None, Query(gt=0, le=LARGEST, description="Reckon with this reserve.")]
FormatName: TypeAlias = Literal["openai", "anthropic", "native"]
