"""Reports for data subjects: all messages of a number, for two administrators. Never the number."""
