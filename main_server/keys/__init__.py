"""Keys: the master key, what it wraps, and the two forms of a sealed message."""
