"""The edge: what its proxies must know to accept messages, as one bundle."""
