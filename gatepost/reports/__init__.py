"""The meaning of the numbers in the report tables, for whoever reads them. Nothing here needs
Spark."""
