"""Teeth: bugs planted on purpose, each of which must turn the checker red.

A tooth is a patch (`patches/NAME.patch`) and a scene (scenes.py) that makes the bug bite within
seconds; the same scene on the tree as it is stays green.
"""
