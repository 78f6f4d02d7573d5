"""Jobs: how workers claim and end them, how they are listed, and how the sweeper mends what was lost."""
