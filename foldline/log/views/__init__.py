"""What a view shows: its messages, and the reasoning in it. Whether it fits is for those who ask."""
