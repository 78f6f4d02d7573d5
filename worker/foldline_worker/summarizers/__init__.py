"""Who writes summaries, and what each is told."""
