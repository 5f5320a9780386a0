"""What administrators call: certificates, tokens and clients. Each call is in the audit log."""
