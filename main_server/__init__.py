"""The main server: the ledger, the keys that open messages, and the certificate authority.

Laid out by subject; each subject has the same few files: endpoints, service, repository, schemas.
"""
