"""The looks that are meant for any service, in modules named by what they look at."""
