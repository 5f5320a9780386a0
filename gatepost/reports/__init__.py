"""What the numbers of the report tables mean, for whoever reads them. Nothing here needs Spark."""
