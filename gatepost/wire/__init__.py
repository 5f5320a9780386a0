"""The forms of what crosses a boundary between two of our programs."""
