"""Bad and good stories about recorded or generated conversations, and what the gate makes of them."""
