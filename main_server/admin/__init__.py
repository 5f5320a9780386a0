"""What administrators call: certificates, tokens, clients, whom we trust. All of it is audited."""
