"""The workload: clients that post at times of their own, whatever becomes of what they posted.

Code of its own over raw TLS, with none of the SDK's retries: what was sent and what was heard is
written down as it is. `python -m tests.chaos.workload --help`
"""
