"""The backup of the keys: one file, sealed; there is one generation of it.

What is destroyed must be gone from it too, so the commands that destroy write it anew, and a
restore takes no key that is on the list of destroyed ones.
"""
