"""What the main server adds to `gatepost`."""
