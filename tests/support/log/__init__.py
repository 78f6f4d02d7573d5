"""Sessions on a real database, and the reference they are held against."""
