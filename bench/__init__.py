"""Measurements: `./dev bench NAME` runs bench/NAME.py."""
