"""The session log: storage, use cases, compaction, jobs and session files. All SQL is here."""
