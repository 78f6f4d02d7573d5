"""The database: tables, transactions, paths, entries. Only `foldline.log` knows SQL."""
