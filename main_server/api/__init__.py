"""What the main server answers by HTTP. Nothing is decided here."""
