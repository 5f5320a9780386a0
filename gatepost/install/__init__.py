"""Puts a release on a machine: `gatepost install`, `gatepost install --back`, `gatepost uninstall`.

It runs out of the wheel that it installs (`PYTHONPATH=WHEEL python3 -m gatepost.install`), before
anything is there: standard library only. What is done is a list of steps (`steps.Step`), each of
which knows whether it is done already; so what a dry run shows is what will happen, and a second
run changes nothing. Nothing secret is in an argument or printed.
"""
