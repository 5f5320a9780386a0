"""What `./dev bench queue` measures of the queue engine, one module for each question."""
