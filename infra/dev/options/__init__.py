"""Declares, once, what each command of `./dev` takes: boot.py reads it before anything is installed
or started, to give help or to refuse what there isn't, and the command itself reads it again.

Standard library only.
"""
