"""Gatepost: what the services share, and what a partner installs (SDK and command line)."""

__version__ = "0.2.0"
