"""The processes on Celery: worker, beat and Flower, and their thread pool and sweeper."""
