"""A real PostgreSQL and a real Valkey or Redis."""
