"""The nightly pipeline: from the ledger into the lake, and from the lake into the reports."""
