"""Sessions from the files of other programs, and back."""
