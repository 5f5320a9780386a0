"""Whole partitions: what is in one, and dropping it."""
