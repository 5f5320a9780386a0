"""Hostile inputs, made from a seed: `./dev hostile` sends all of them, the suite a few of each."""
