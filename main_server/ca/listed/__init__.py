"""Certificates as people look at them."""
