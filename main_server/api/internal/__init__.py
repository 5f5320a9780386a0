"""The calls of proxies and workers, by certificates of their own."""
