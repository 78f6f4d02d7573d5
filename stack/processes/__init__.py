"""Programs that end with us, and that come back when they die."""
