"""The `foldline` command: each command in a module of its own; `main` only registers them."""
