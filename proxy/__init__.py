"""The proxy: takes messages from partners over mutual TLS, seals them, and commits them.

A message's way: endpoints.accept_message → admission.admit → sealing.seal → commit.
"""
