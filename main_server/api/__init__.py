"""The HTTP interfaces of the main server. Nothing is decided here."""
