"""What administrators ask for: certificates, tokens and clients, by a certificate of the role admin
or, as people, by way of the portal. The routes are the same. Each change is in the audit log, and
so is whom we trust beside our own CA, which is for programs alone."""
