"""How the gateway fares: figures to watch, the overview, and reports."""
