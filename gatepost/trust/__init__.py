"""Who holds which key: certificates and their rules, TLS, sealing, what is revoked, and how sure a
process is of it."""
