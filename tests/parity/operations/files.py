"""What files may take of a window."""

from __future__ import annotations

from math import floor
from types import MappingProxyType
from typing import Final

from foldline.engine.models.attachments import Attachment, attachment_of, files_budget, place_files, whole_files
from foldline.engine.models.file_types import file_tokens
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.tokens.counter import MESSAGE
from tests.parity.vectors import Json, Operation, Operations

RULES: Final = LAYOUTS["neurolink"].files


def _tokens_of(value: Json) -> int:
    return file_tokens(value["size"], value["type"] or "text")


def _file_budget(args: Json) -> Json:
    sizes = (args["context_window"], args["current_tokens"], args["max_output_tokens"])
    return {"budget": files_budget(*sizes, RULES.share)}


def _leaves_room(args: Json, found: Json) -> bool:
    left = args["context_window"] - args["current_tokens"] - args["max_output_tokens"]
    return bool(0 <= found["budget"] <= max(0, left))


def _file_truncate(args: Json) -> Json:
    file = attachment_of({"path": "", "size_bytes": args["size"]}, "", RULES)
    # The recorded budget is for the file's text alone.
    (placed,) = place_files([file], args["budget"] + MESSAGE, RULES)
    is_kept = placed.action == "keep"
    return {
        "truncate": not is_kept,
        "max_chars": None if is_kept else placed.max_chars,
        "preview": placed.action == "preview",
    }


def _stays_within_its_budget(args: Json, found: Json) -> bool:
    sent = found["max_chars"] if found["truncate"] else args["size"]
    return bool(sent <= args["budget"] * RULES.bytes_per_token)


def _file_tokens(args: Json) -> Json:
    return {"tokens": _tokens_of(args)}


def _grows_with_size(args: Json, found: Json) -> bool:
    return bool(0 <= found["tokens"] <= _file_tokens({**args, "size": args["size"] * 2})["tokens"])


def _file_aggregate(args: Json) -> Json:
    files = [Attachment("", file["size"], _tokens_of(file), file["size"]) for file in args["files"]]
    included = whole_files(files, floor(args["available_tokens"] * RULES.share))
    left = sorted({*range(len(files))} - {*included}, key=lambda index: files[index].size_bytes)
    return {"included": included, "excluded": left}


def _takes_its_share(args: Json, found: Json) -> bool:
    taken = sum(_tokens_of(args["files"][index]) for index in found["included"])
    is_complete = sorted((*found["included"], *found["excluded"])) == list(range(len(args["files"])))
    return bool(is_complete and taken <= max(0, args["available_tokens"] * RULES.share))


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "file_budget"): Operation(_file_budget, _leaves_room),
        ("neurolink", "file_truncate"): Operation(_file_truncate, _stays_within_its_budget),
        ("neurolink", "file_tokens"): Operation(_file_tokens, _grows_with_size),
        ("neurolink", "file_aggregate"): Operation(_file_aggregate, _takes_its_share),
    }
)
