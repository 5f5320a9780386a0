"""What proxies and workers ask, by certificates of their own."""
