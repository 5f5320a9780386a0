"""Trust anchors: CAs of partners, each bound to one domain, and certificates that are theirs."""
