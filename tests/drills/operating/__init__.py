"""The parts of `./dev drill operate`."""
