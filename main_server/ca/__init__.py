"""The certificate authority: what it signs, and whom the main server knows by it."""
