"""Pauses by hand: of queues, from which nothing is delivered then, and of intake.

They are in the ledger, so no restart of anything and no wiped Redis ends one. Workers hear of them
with the names of the queues, proxies with the bundle.
"""
