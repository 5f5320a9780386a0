"""Reads the report tables and shows what they hold, for the main server, the portal and the nightly
pipeline's own pages, so that all of them say the same. Nothing here needs Spark."""
