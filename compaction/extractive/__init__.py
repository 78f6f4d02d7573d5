"""A summary made of the conversation's own lines: no LLM, deterministic, always within its budget."""

from compaction.extractive.summarize import extract, summarize

__all__ = ["extract", "summarize"]
