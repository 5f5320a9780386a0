"""The commands that the main server adds to `gatepost`."""
