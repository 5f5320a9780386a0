"""What runs have done, so that it can be told even of one that was killed."""
