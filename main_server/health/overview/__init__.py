"""The overview of the whole place, for administrators. Nothing here is kept anywhere."""
