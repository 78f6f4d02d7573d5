"""Summaries made of the conversation's own lines: without an LLM, deterministic, always within their budget."""

from foldline.engine.summaries.extractive.summarize import extract, summarize

__all__ = ["extract", "summarize"]
