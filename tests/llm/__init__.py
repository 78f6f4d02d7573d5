"""A small real model on a real server, for what no script plays. `make test-llm` runs it, `make test` does not."""
