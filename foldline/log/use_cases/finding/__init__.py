"""Finding what was said: the ledger along the path in use, and recall of what is out of view."""
