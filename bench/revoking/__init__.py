"""How long a certificate is taken after it was revoked."""
