"""Domains and their clients: what they are called, may do, have paused, and for how long what they
send is kept."""
