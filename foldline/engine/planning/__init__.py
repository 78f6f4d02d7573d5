"""Plans: batches and cut points, the stages that add edits, and the pipeline that runs them on an outline."""
