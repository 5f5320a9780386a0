"""Messages as people see them: lists, one message with its story, its content opened for them."""
