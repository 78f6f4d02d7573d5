"""The processes that stand on Celery: worker, beat and Flower."""
