"""The use cases of a session, one module each; each opens the path, changes it and saves it in one transaction."""
