"""The pages, by subject; templates/ mirrors this folder."""
