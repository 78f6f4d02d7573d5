"""What models take: their windows, the budget that leaves, and what of files fits beside a conversation."""
