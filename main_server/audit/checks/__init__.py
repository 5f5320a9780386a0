"""Checks of the audit log that somebody has asked for: what there is to read and write of them."""
