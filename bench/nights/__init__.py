"""The bench of the nightly pipeline: large ledgers, nights on them, and two others who count."""
