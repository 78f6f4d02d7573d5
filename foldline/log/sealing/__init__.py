"""What was said is encrypted where it is stored, if the service has keys for that."""
