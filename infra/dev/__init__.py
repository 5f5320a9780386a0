"""The machinery behind `./dev`: environment, engines, development stack. Nothing of it is shipped."""
