"""The broker: its transport, the queues, and notifying it of waiting jobs."""
