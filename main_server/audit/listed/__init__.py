"""The audit log as it is looked through: the part of `audit` that has this SQL of its own."""
