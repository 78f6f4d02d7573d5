"""What survives compactions: facts planted in long conversations, and how many of them a model still sees."""
