"""The Helm chart `foldline`, and what fetches Helm and writes the chart's generated files."""
