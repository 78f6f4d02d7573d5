"""The engine: decides what to edit so that a conversation fits its model. Pure; usable as a library."""
