"""Failed messages: why they failed; redriving them, which delivers them after all; discarding."""
