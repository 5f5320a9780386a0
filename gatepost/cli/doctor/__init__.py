"""`gatepost doctor`: looks at what an expert would look at on a machine of the gateway, and names
what mends it.

A look knows nothing of the others, and how it ends or hangs is its own affair (`running`). Those of
this package are for any service; a service adds its own by an entry point, as it adds commands
(`registry`). Nothing is changed by looking.
"""
