"""The workers: take messages from the queue under a lease, deliver them, settle them.

The way of a batch: delivering.deliver_batch → reserve → POST deliver → policy.decide → settle.
"""
