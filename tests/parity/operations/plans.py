"""What goes out of view: clearing, superseding, hiding, and where a summary ends."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from foldline.engine.edits import Edit
from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.pipeline import make_plan
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.recent import older_items
from foldline.engine.planning.stages.hiding import hide_fraction
from foldline.engine.planning.stages.reads import read_shown
from foldline.engine.policies.policy import Stage
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.engine.tokens.measures import Measure
from tests.parity.operations.counting import message_of, no_recorded_defect
from tests.parity.operations.measured import Said, goals_for, measure_for, outline_of_vector, stage
from tests.parity.operations.promises import keeps_last_user, keeps_pairs, last_user, reads
from tests.parity.vectors import Json, Operation, Operations

PATH: Final = "path/of/file"
NEUROLINK: Final = Said(
    cleared="[Tool result cleared]",
    superseded=f"[File {PATH} - refer to latest read below]",
    marker="[Earlier conversation history was truncated to fit within context limits]",
)
AGENT_CODE: Final = Said(cleared="[Old tool result cleared]")
UNBOUNDED: Final = 1 << 53


def neurolink_measure(provider: str | None = None) -> Measure:
    return measure_for("neurolink", NEUROLINK, provider)


def agent_code_measure() -> Measure:
    return measure_for("agent-code", AGENT_CODE)


def edited(plan: Plan, kind: str) -> list[int]:
    """The indexes of the messages that a plan edits in one way."""
    return sorted(edit.first - 1 for edit in plan.edits if edit.kind == kind)


def hidden(plan: Plan) -> list[int]:
    """The indexes of the messages that a plan hides."""
    return sorted({seq - 1 for edit in plan.hides for seq in range(edit.first, edit.last + 1)})


def before_item(outline: Outline, index: int) -> int:
    """How many messages there are before an item."""
    return sum(len(item.entries) for item in outline.items[:index] if isinstance(item, Unit))


def _prune(args: Json) -> Json:
    measure = neurolink_measure(args["provider"])
    outline = outline_of_vector(args["messages"], measure)
    plan = make_plan(outline, [_prune_stage(args)], goals_for(-1, UNBOUNDED), is_asked=True)
    return {
        "cleared": edited(plan, "clear"),
        "applied": bool(plan.edits),
        "tokens_saved": outline.tokens - plan.tokens,
    }


def _prune_stage(args: Json) -> Stage:
    own = dict(PRESETS["neurolink@program"].stage("prune").parameters)
    own |= {"protect_tokens": args["protect_tokens"], "minimum_saving_tokens": args["minimum_savings"]}
    return stage("prune", **own | {"protected_tools": tuple(args["protected_tools"])})


def _dedupe(args: Json) -> Json:
    outline = outline_of_vector(args["messages"], neurolink_measure())
    own = PRESETS["neurolink@program"].stage("deduplicate")
    plan = make_plan(outline, [own], goals_for(-1, UNBOUNDED), is_asked=True)
    paths = _paths(outline)
    superseded = {str(index): paths[index] for index in edited(plan, "supersede")}
    return {"superseded": superseded, "applied": bool(superseded)}


def _paths(outline: Outline) -> dict[int, str]:
    """The path of each read in view, by the index of its message."""
    shown = {entry.seq - 1: read_shown(entry) for _, entry in outline.results}
    return {index: found.read.path for index, found in shown.items() if found}


def _slide_stage(fraction: float) -> Stage:
    own = dict(PRESETS["neurolink@program"].stage("truncate").parameters)
    return stage("truncate", **own | {"fraction": fraction})


def _truncate(args: Json) -> Json:
    outline = outline_of_vector(args["messages"], neurolink_measure())
    plan = hide_fraction(outline, Plan(outline.tokens), _slide_stage(args["fraction"]))
    return {"removed": hidden(plan), "applied": bool(plan.edits)}


def _split(args: Json, measure: Measure, own: Stage) -> Json:
    messages = args["messages"]
    outline = outline_of_vector(messages, measure)
    # Nothing of a summary's range may follow the last user message that precedes what is kept.
    older = min(older_items(outline, own, 0, UNBOUNDED), max(outline.last_user, 0))
    split = before_item(outline, older)
    indexes = list(range(len(messages)))
    previous = [index for index in indexes[:split] if messages[index].get("summary")]
    return {
        "summarized": indexes[:split],
        "kept": indexes[split:],
        "previous_summary": previous[0] if previous else None,
        "applied": split > 0,
    }


def _neurolink_split(args: Json) -> Json:
    own = dict(PRESETS["neurolink@program"].stage("summarize").parameters)
    return _split(args, neurolink_measure(), stage("summarize", **own | {"keep_share": args["keep_ratio"]}))


def _agent_code_split(args: Json) -> Json:
    return _split(args, agent_code_measure(), PRESETS["agent-code@program"].stage("summarize"))


def _split_adjust(args: Json) -> Json:
    """A split is moved back to where a unit begins."""
    outline = outline_of_vector(args["messages"], agent_code_measure())
    starts = [before_item(outline, index) for index in range(len(outline.items) + 1)]
    return {"split_at": max(start for start in starts if start <= args["split"])}


def _microcompact(args: Json) -> Json:
    outline = outline_of_vector(args["messages"], agent_code_measure())
    own = dict(PRESETS["agent-code@program"].stage("microcompact").parameters)
    plan = make_plan(
        outline,
        [stage("microcompact", **own | {"keep_results": args["keep_recent"]})],
        goals_for(-1, UNBOUNDED),
        is_asked=True,
    )
    return {
        "cleared": edited(plan, "clear"),
        "applied": bool(plan.edits),
        "tokens_saved": outline.tokens - plan.tokens,
    }


def _collapse(args: Json) -> Json:
    outline = outline_of_vector(args["messages"], agent_code_measure())
    goals = goals_for(args["max_tokens"], UNBOUNDED)
    plan = make_plan(outline, [stage("collapse")], goals, is_asked=True)
    return {"removed": hidden(plan), "applied": bool(plan.edits)}


def _rounds(args: Json) -> Json:
    outline = outline_of_vector(args["messages"], agent_code_measure())
    starts = [before_item(outline, index) for index in outline.turn_starts]
    ends = [*starts[1:], len(args["messages"])]
    return {"rounds": [list(range(start, end)) for start, end in zip(starts, ends, strict=True)]}


def _pipeline(args: Json) -> Json:
    """The stages one by one, as a recorded summarizer answers in between."""
    estimate, messages = ESTIMATES["neurolink"], args["messages"]
    outline = outline_of_vector(messages, neurolink_measure(args["provider"]))
    goals = goals_for(args["target_tokens"] - estimate.conversation)
    enabled, before, stages = args["enable"], outline.tokens, list[str]()
    own = {"prune": _prune_stage(args), "deduplicate": PRESETS["neurolink@program"].stage("deduplicate")}
    plan = make_plan(
        outline, [own[name] for name in own if enabled[name]], replace(goals, limit=UNBOUNDED), is_asked=True
    )
    stages += plan.stages_used
    outline = outline.edited(plan.edits)
    if enabled["summarize"] and outline.tokens > goals.target:
        condense = _condense(outline, args)
        stages += ["summarize"] if condense else []
        outline = outline.edited(condense)
    if enabled["truncate"]:
        plan = make_plan(outline, [_slide_stage(args["fraction"])], goals, is_asked=True)
        stages += plan.stages_used
        outline = outline.edited(plan.edits)
    kept = [
        entry.seq - 1
        for item in outline.items
        if isinstance(item, Unit) and not item.is_hidden
        for entry in item.entries
    ]
    cells = {seq - 1: cell.kind for seq, cell in outline.live.cells.items() if seq - 1 in kept}
    superseded = sorted(index for index, kind in cells.items() if kind == "supersede")
    # The recorded notice names the file.
    paths = _paths(outline)
    notices = (
        estimate.text(NEUROLINK.superseded.replace(PATH, paths[index]), args["provider"]) for index in superseded
    )
    after = outline.tokens + sum(notices) - len(superseded) * outline.measure.pointer
    overhead = estimate.conversation if messages else 0
    return {
        "stages": stages,
        "tokens_before": before + overhead,
        "tokens_after": after + overhead,
        "kept": kept,
        "cleared": sorted(index for index, kind in cells.items() if kind == "clear"),
        "superseded": superseded,
    }


def _condense(outline: Outline, args: Json) -> list[Edit]:
    own = dict(PRESETS["neurolink@program"].stage("summarize").parameters)
    own |= {"keep_share": args["keep_ratio"]}
    older = min(older_items(outline, stage("summarize", **own), 0, UNBOUNDED), max(outline.last_user, 0))
    if args["summary"] is None or not older:
        return []
    estimate = ESTIMATES["neurolink"]
    tokens = estimate.message + estimate.text(f"Previous conversation summary:\n\n{args['summary']}", args["provider"])
    last = outline.items[older - 1].last
    return [Edit("condense", 1, last, summary="s", tokens=tokens, original_tokens=UNBOUNDED)]


def _clears_for_gain(args: Json, found: Json, counter: str, marker: str) -> bool:
    """What is cleared are results that take more than their marker, and the saving is the sum of that."""
    messages, estimate = args["messages"], ESTIMATES[counter]
    provider = args.get("provider")
    savings = [
        estimate.text(messages[index]["content"], provider) - estimate.text(marker, provider)
        for index in found["cleared"]
        if messages[index]["role"] == "tool"
    ]
    is_gain = len(savings) == len(found["cleared"]) and all(saving > 0 for saving in savings)
    return is_gain and found["tokens_saved"] == sum(savings) and found["applied"] == bool(savings)


def _prunes_for_gain(args: Json, found: Json) -> bool:
    names = {args["messages"][index]["name"] for index in found["cleared"]}
    is_enough = not found["cleared"] or found["tokens_saved"] >= args["minimum_savings"]
    is_protected = bool(names & {*args["protected_tools"]})
    return is_enough and not is_protected and _clears_for_gain(args, found, "neurolink", NEUROLINK.cleared)


def _clears_known_tools(args: Json, found: Json) -> bool:
    tools = {"fileread", "bash", "grep", "glob", "fileedit", "filewrite"}
    messages = args["messages"]
    known = [index for index, message in enumerate(messages) if str(message.get("name")).lower() in tools]
    newest = known[-max(1, args["keep_recent"]) :]
    is_old = {*found["cleared"]} <= {*known} - {*newest}
    return is_old and _clears_for_gain(args, found, "agent-code", AGENT_CODE.cleared)


def _points_at_reads(args: Json, found: Json) -> bool:
    """What is superseded are reads by their calls, and the file was read again later, which stays and is no scrap."""
    paths = reads(args["messages"])
    superseded = {int(index): path for index, path in found["superseded"].items()}
    is_read = all(paths.get(index) == path for index, path in superseded.items())
    sizes = [len(message["content"]) for message in args["messages"]]
    staying = [(index, path) for index, path in paths.items() if index not in superseded]
    is_shown = all(
        any(later > index and other == path and sizes[later] * 2 >= sizes[index] * 0.9 for later, other in staying)
        for index, path in superseded.items()
    )
    return is_read and is_shown and found["applied"] == bool(superseded)


def _takes_from_the_middle(args: Json, found: Json) -> bool:
    messages, removed = args["messages"], found["removed"]
    is_middle = {0, 1}.isdisjoint(removed) and found["applied"] == bool(removed)
    return is_middle and keeps_last_user(messages, removed) and keeps_pairs(messages, removed)


def _splits_between_pairs(args: Json, found: Json) -> bool:
    messages, summarized = args["messages"], found["summarized"]
    is_split = [*summarized, *found["kept"]] == list(range(len(messages)))
    former = [index for index in summarized if messages[index].get("summary")]
    is_carried = found["previous_summary"] == (former[0] if former else None)
    is_whole = keeps_last_user(messages, summarized) and keeps_pairs(messages, summarized)
    return is_split and is_whole and is_carried


def _drops_whole_rounds(args: Json, found: Json) -> bool:
    """From one start of a turn to another, but neither the first turn nor the last."""
    messages, removed = args["messages"], found["removed"]
    starts = [index for index, message in enumerate(messages) if message["role"] == "user" and not message.get("meta")]
    starts = starts if 0 in starts else [0, *starts]
    is_run = removed == list(range(removed[0], removed[-1] + 1)) if removed else True
    is_whole = not removed or (removed[0] in starts[1:-1] and removed[-1] + 1 in starts[2:])
    estimates = [ESTIMATES["agent-code"].of_message(message_of(message)) for message in messages]
    is_all_gone = removed == list(range(*starts[1 :: len(starts) - 2])) if len(starts) > 2 else not removed
    is_enough = sum(estimates) - sum(estimates[index] for index in removed) <= args["max_tokens"]
    return (is_enough or is_all_gone) and is_run and is_whole and keeps_last_user(messages, removed)


def _keeps_the_promises(args: Json, found: Json) -> bool:
    messages, kept = args["messages"], found["kept"]
    gone = {*range(len(messages))} - {*kept}
    is_whole = keeps_last_user(messages, gone) and keeps_pairs(messages, gone)
    is_smaller = found["tokens_after"] < found["tokens_before"] if found["stages"] else not gone
    # The last turn may be more than there is room for.
    is_all_gone = not args["enable"]["truncate"] or all(index >= last_user(messages) for index in kept)
    return is_whole and is_smaller and (found["tokens_after"] <= args["target_tokens"] or is_all_gone)


OPERATIONS: Final[Operations] = MappingProxyType(
    {
        ("neurolink", "prune"): Operation(_prune, _prunes_for_gain),
        ("neurolink", "dedupe"): Operation(_dedupe, _points_at_reads),
        ("neurolink", "truncate"): Operation(_truncate, _takes_from_the_middle),
        ("neurolink", "summarize_split"): Operation(_neurolink_split, _splits_between_pairs),
        ("neurolink", "pipeline"): Operation(_pipeline, _keeps_the_promises),
        ("agent_code", "microcompact"): Operation(_microcompact, _clears_known_tools),
        ("agent_code", "summarize_split"): Operation(_agent_code_split, _splits_between_pairs),
        ("agent_code", "split_adjust"): Operation(_split_adjust, no_recorded_defect),
        ("agent_code", "collapse"): Operation(_collapse, _drops_whole_rounds),
        ("agent_code", "rounds"): Operation(_rounds, no_recorded_defect),
    }
)
