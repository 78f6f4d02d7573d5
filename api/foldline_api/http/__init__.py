"""HTTP itself: requests, responses, problems, entity tags, keys and access lines."""
