"""How well and how fast a recall finds what recorded sessions said out of view."""
