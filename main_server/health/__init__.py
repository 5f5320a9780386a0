"""The health of the gateway: figures to watch, the overview, and reports."""
