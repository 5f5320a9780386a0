"""The `gatepost` command. Bodies and numbers reach it by stdin or file, never by argument (I6)."""
