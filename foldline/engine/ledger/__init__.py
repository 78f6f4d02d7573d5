"""The ledger: what must survive a compaction, item by item, found in the messages without an LLM."""
