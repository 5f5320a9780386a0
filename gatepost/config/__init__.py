"""The sources of settings, and the blocks that services compose theirs of."""
