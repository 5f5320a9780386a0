"""Domains: the tenants, what is set for each, and whether it may take part at all just now."""
