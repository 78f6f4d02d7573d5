"""What a summary costs that rides on the cached view of the session's own model, against one of a transcript."""
