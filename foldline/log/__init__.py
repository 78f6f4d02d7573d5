"""The session log: tables, transactions and use cases. The only place that knows SQL, and what a job is."""
