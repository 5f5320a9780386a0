"""Clients: who may send, how much, and whether at all just now."""
