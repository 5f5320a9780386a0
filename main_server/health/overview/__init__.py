"""The overview: how the whole place does, for administrators. Nothing here is kept anywhere."""
