"""Images in messages: how many and how large they are, and lines of text in their place."""
