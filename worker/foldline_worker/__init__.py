"""Celery: the app, its queues and tasks, the relay and the sweeper. Nothing here knows SQL or how a plan is made."""
