"""Retention: what is older than its domain or client is kept for goes, row and key, for good."""
