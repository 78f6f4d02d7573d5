"""Compacting a path: the trigger, summary requests, kept summaries, and publishing. Running jobs is in `log.jobs`."""
