"""SQLAlchemy engines: which databases are supported, and how their connections are set up."""
