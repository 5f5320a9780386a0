"""The proxy: takes messages from partners over mutual TLS, seals them, and commits them.

The way of a message: endpoints.accept_message → admission.admit → sealing.seal → commit.
"""
