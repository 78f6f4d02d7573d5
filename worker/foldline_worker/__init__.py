"""The worker: Celery app, queues, tasks, notifier, sweeper, summarizers and hooks. SQL and planning are not here."""
