"""What people see of messages: lists, one message with its story, its content opened for them."""
