"""Looks at what operators see, in a real browser. It needs Chromium: `make browser` runs it, `make test` does not."""
