"""Stores that may fail. That this is a package ends its rig as soon as its last test is done."""
