"""Celery: the app, its queues and tasks, the notifier and the sweeper. Nothing here knows SQL or how a plan is made."""
