"""The broker: its transport and queues, the notifier, and what is logged while it is away."""
