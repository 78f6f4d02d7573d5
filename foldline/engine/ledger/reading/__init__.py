"""How text is read: its lines, its sentences, their language, and what is specific in them."""
