"""The main server: the ledger, the keys that open messages, and the certificate authority.

Laid out by subject. In each, `endpoints` is what others call, `service` (or a file for each thing
that is done) what happens, `repository` the SQL.
"""
