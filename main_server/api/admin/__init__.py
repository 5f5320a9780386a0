"""The calls of administrators: for certificates, tokens and clients. They come by a certificate of
the role admin or, from people, by way of the portal; the routes are the same. Each change is in the
audit log, and so is whom we trust beside our own CA, which is for programs alone."""
