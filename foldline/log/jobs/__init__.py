"""Jobs: claiming, publishing and ending them, listing them, and the sweeper. Making a job is in `log.compaction`."""
