"""What the measurements stand on: load, subjects to compare with, the machine, the report."""
