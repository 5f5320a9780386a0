"""The machinery behind `./dev`: environment, engines, stack. Nothing of it is shipped."""
