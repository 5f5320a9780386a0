"""Exchange the master key: what the old one wraps is wrapped again, while servers run."""
