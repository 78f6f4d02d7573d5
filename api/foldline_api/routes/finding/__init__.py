"""Routes that find what was said: the ledger, and recall of what is out of view."""
