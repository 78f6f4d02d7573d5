"""What the writing of a job's summary needs: what is read for it, kept of it, and said while it is written."""
