"""A summary made of the conversation's own lines: no LLM, deterministic, always within its budget."""

from foldline.engine.summaries.extractive.summarize import extract, summarize

__all__ = ["extract", "summarize"]
