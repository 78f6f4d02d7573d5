"""Side-by-side measurements: ratios of medians over interleaved rounds, each with a bound."""
