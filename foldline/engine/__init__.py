"""The engine decides which edits make a conversation fit its model. It is pure: no I/O, no clock, no settings."""
