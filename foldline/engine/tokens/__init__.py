"""How text is counted, estimated and cut."""
