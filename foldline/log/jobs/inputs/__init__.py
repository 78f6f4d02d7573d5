"""What is read and kept for the summarizer that writes a job's summary, beside its messages."""
