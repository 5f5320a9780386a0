"""Test vectors for both sealed forms: what opens, and what must not."""
