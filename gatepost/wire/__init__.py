"""What crosses a boundary between two of our programs, in the form in which it does."""
