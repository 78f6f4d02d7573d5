"""Compacting a path: the trigger, summary requests, and applying edits and summaries."""
