"""Lists of messages: the part of `reading` that has SQL of its own."""
