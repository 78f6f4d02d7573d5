"""From an outline to a plan: batches, cut points, the pipeline and its stages."""
