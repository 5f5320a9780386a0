"""The reports of the nightly pipeline, for administrators: read, never made here."""
