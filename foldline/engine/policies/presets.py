"""The presets as data: `name` follows the documentation of a system, `name@program` the code of its program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from foldline.engine.images.in_messages import MAX_IMAGE_BYTES, MAX_IMAGES
from foldline.engine.policies.policy import Policy, Stage, Value

DEFAULT_PRESET: Final = "foldline"


def _stage(name: str, **parameters: Value) -> Stage:
    return Stage(name, MappingProxyType(parameters))


# Trigger and target cost the least over recorded sessions at cache prices (docs/decisions/0035).
_FOLDLINE: Final = Policy(
    preset="foldline",
    trigger=0.80,
    target=0.20,
    weighs_prefix=True,
    least_target_tokens=1_500,
    stages=(
        _stage("deduplicate"),
        _stage("prune", minimum_tokens=100),
        _stage("summarize"),
        _stage("truncate"),
    ),
)

_NEUROLINK_REST: Final = (
    _stage("deduplicate", minimum_saving_share=0.3, stops_at_target=True, by_words=True),
    _stage("summarize", keep_messages=4, keep_share=0.3, keep_tokens=0, stops_at_target=True),
    _stage("truncate", keep_first=2, fraction=0.5),
)
_NEUROLINK_PRUNE: Final[Mapping[str, Value]] = MappingProxyType(
    {
        "keep_recent_tokens": 0,
        "protect_tokens": 40_000,
        "protected_tools": ("skill",),
        "minimum_saving_tokens": 20_000,
        "stops_at_target": False,
    }
)
_NEUROLINK: Final = Policy(
    preset="neurolink",
    counter="neurolink",
    layout="neurolink",
    registry="neurolink",
    transcript="neurolink",
    headings="neurolink",
    report=("files_deduped", "messages_removed"),
    output_bytes=51_200,
    output_lines=2_000,
    trigger=0.8,
    target=0.5,
    stages=(_stage("prune", excerpt_over_chars=51_200, **_NEUROLINK_PRUNE), *_NEUROLINK_REST),
)

_AGENT_CODE_SUMMARY: Final = _stage(
    "summarize", keep_texts=5, keep_tokens=10_000, keep_tokens_most=40_000, at_least_messages=2, stops_at_target=True
)
_AGENT_CODE: Final = Policy(
    preset="agent-code",
    counter="agent-code",
    layout="agent-code",
    registry="agent-code",
    transcript="agent-code",
    headings="agent-code",
    trigger=1.0,
    target=0.5,
    buffer_tokens=13_000,
    stages=(_stage("microcompact", keep_turns=2, overflow_keep_turns=1), _AGENT_CODE_SUMMARY, _stage("collapse")),
)
_AGENT_CODE_TOOLS: Final = ("FileRead", "Bash", "Grep", "Glob", "FileEdit", "FileWrite")

_CODEBUDDY: Final = Policy(
    preset="codebuddy",
    counter="codebuddy",
    layout="codebuddy",
    registry="codebuddy",
    transcript="codebuddy",
    headings="codebuddy",
    report=("original_count", "final_count", "original_tokens", "final_tokens", "tier", "warning_level"),
    trigger=0.9,
    target=0.5,
    stages=(
        _stage("strip", keep_messages=4, longer_than_chars=200),
        _stage(
            "summarize",
            keep_messages=4,
            keep_tokens=0,
            at_least_messages=2,
            stops_at_target=True,
            chunk_share=0.4,
            chunk_tokens=12_000,
            falls_back=True,
        ),
        _stage("truncate"),
    ),
)

_PI: Final = Policy(
    preset="pi",
    counter="pi",
    layout="pi",
    transcript="pi",
    headings="pi",
    splits_turns=True,
    lists_files=True,
    trusts_usage=True,
    trigger=1.0,
    target=0.5,
    stages=(_stage("summarize", keep_tokens=16_384),),
)

_ALL: Final = (
    _FOLDLINE,
    _NEUROLINK,
    # Compacts at 80 %. Its target is the whole budget, so it stops as soon as the view fits.
    replace(
        _NEUROLINK,
        preset="neurolink@program",
        layout="neurolink@program",
        output_bytes=0,
        output_lines=0,
        target=1.0,
        is_loose=True,
        stages=(_stage("prune", **_NEUROLINK_PRUNE), *_NEUROLINK_REST),
    ),
    _AGENT_CODE,
    replace(
        _AGENT_CODE,
        preset="agent-code@program",
        layout="agent-code@program",
        max_images=MAX_IMAGES,
        max_image_bytes=MAX_IMAGE_BYTES,
        target=1.0,
        is_loose=True,
        stages=(
            _stage(
                "microcompact",
                keep_results=5,
                asked_keep_results=2,
                overflow_keep_results=1,
                tools=_AGENT_CODE_TOOLS,
            ),
            _AGENT_CODE_SUMMARY,
            _stage("collapse"),
        ),
    ),
    _CODEBUDDY,
    replace(
        _CODEBUDDY,
        preset="codebuddy@program",
        layout="codebuddy@program",
        trigger=1.0,
        target=1.0,
        is_loose=True,
        stages=(
            _stage("strip", keep_messages=4, longer_than_chars=200),
            _stage(
                "summarize",
                keep_messages=4,
                keep_tokens=0,
                at_least_messages=2,
                stops_at_target=True,
                adapts_chunks=True,
                falls_back=True,
            ),
            _stage("truncate"),
        ),
    ),
    _PI,
    # If one batch alone is larger than the tokens it keeps, it keeps less than those.
    replace(
        _PI,
        preset="pi@program",
        transcript="pi@program",
        stages=(_stage("summarize", keep_tokens=20_000, rounds_forward=True, keeps_notes=True),),
    ),
)

PRESETS: Final[Mapping[str, Policy]] = MappingProxyType({policy.preset: policy for policy in _ALL})
