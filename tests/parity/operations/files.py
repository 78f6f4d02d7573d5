"""What files may take of a window."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from foldline.engine.models.file_budget import (
    CHARS_PER_TOKEN,
    FILES_SHARE,
    SizedFile,
    allowance,
    file_tokens,
    files_budget,
    select_files,
)
from tests.parity.vectors import Json, Operation, Operations


def _file_of(value: Json) -> SizedFile:
    return SizedFile(value["size"], value["type"] or "text")


def _file_budget(args: Json) -> Json:
    return {"budget": files_budget(args["context_window"], args["current_tokens"], args["max_output_tokens"])}


def _leaves_room(args: Json, found: Json) -> bool:
    left = args["context_window"] - args["current_tokens"] - args["max_output_tokens"]
    return bool(0 <= found["budget"] <= max(0, left))


def _file_truncate(args: Json) -> Json:
    allowed = allowance(args["size"], args["budget"])
    return {
        "truncate": allowed.action != "keep",
        "max_chars": allowed.max_chars,
        "preview": allowed.action == "preview",
    }


def _stays_within_its_budget(args: Json, found: Json) -> bool:
    sent = found["max_chars"] if found["truncate"] else args["size"]
    return bool(sent <= args["budget"] * CHARS_PER_TOKEN)


def _file_tokens(args: Json) -> Json:
    return {"tokens": file_tokens(_file_of(args))}


def _grows_with_size(args: Json, found: Json) -> bool:
    return bool(0 <= found["tokens"] <= _file_tokens({**args, "size": args["size"] * 2})["tokens"])


def _file_aggregate(args: Json) -> Json:
    selection = select_files([_file_of(file) for file in args["files"]], args["available_tokens"])
    return {"included": selection.included, "excluded": selection.excluded}


def _takes_its_share(args: Json, found: Json) -> bool:
    files = [_file_of(file) for file in args["files"]]
    taken = sum(file_tokens(files[index]) for index in found["included"])
    is_complete = sorted((*found["included"], *found["excluded"])) == list(range(len(files)))
    return bool(is_complete and taken <= max(0, args["available_tokens"] * FILES_SHARE))


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "file_budget"): Operation(_file_budget, _leaves_room),
        ("neurolink", "file_truncate"): Operation(_file_truncate, _stays_within_its_budget),
        ("neurolink", "file_tokens"): Operation(_file_tokens, _grows_with_size),
        ("neurolink", "file_aggregate"): Operation(_file_aggregate, _takes_its_share),
    }
)
