"""Certificates and their rules, TLS, sealing, what is revoked, and how sure a process is of it: all
that says who holds which key."""
