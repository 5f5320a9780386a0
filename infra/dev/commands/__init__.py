"""One module for each command of `./dev`; boot.py lists them."""
