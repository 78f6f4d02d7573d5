"""What writes the generated pages and files of this repository."""
