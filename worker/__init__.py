"""The workers: take messages from the queue under a lease, deliver them, settle them.

A batch's way: delivering.deliver_batch → reserve → POST deliver → policy.decide → settle.
"""
