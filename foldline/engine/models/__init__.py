"""Context windows of models, the budgets that follow from them, and the room for files beside a conversation."""
