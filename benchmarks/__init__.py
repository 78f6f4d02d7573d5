"""Side-by-side measurements: ratios of medians over interleaved rounds, with a bound each has to keep."""
