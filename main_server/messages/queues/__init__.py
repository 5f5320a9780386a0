"""Queues: which there are, and how what waits there is discarded."""
