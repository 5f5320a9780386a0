"""Where settings come from, and the blocks that services compose theirs of."""
