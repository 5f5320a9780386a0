"""Retention: messages that are older than their domain or client keeps them go, row and key, for
good."""
