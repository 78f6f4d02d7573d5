"""The database: tables, transactions, sessions, paths, entries, events. What callers do with them is in `use_cases`."""
