"""What is kept and read while a summary is written."""
