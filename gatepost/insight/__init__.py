"""What is read from the report tables and shown: by the main server, the portal and the nightly
pipeline's own pages, so that all of them say the same. Nothing here needs Spark."""
