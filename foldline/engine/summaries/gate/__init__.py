"""Decides whether a story may be published: as it is, without some of its lines, or not at all."""

from foldline.engine.summaries.gate.judge import GATE, Finding, GateOutcome, Judged, details, judge
from foldline.engine.summaries.gate.source import Story

__all__ = ["GATE", "Finding", "GateOutcome", "Judged", "Story", "details", "judge"]
