"""Makes the documents a site: Sphinx's settings, and what is looked for in what it made."""
