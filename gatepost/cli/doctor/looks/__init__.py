"""The looks that are for any service, by what they look at."""
