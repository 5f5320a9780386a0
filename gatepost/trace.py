"""W3C trace context: the one line by which the parts of a message's way are put together again.

A traceparent names a trace, a span in it, and whether whoever wrote it records that span.
"""

import re
import secrets

FORM = r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
_TRACEPARENT = re.compile(rf"\A{FORM}\Z")
_SAMPLED = 1


def fresh_traceparent() -> str:
    """Return the traceparent of a new trace that nobody records yet: that is for the gateway to
    decide."""
    return f"00-{secrets.token_hex(16)}-{fresh_span_id()}-00"


def fresh_span_id() -> str:
    return f"{secrets.randbits(64) or 1:016x}"


def is_traceparent(text: str) -> bool:
    return _TRACEPARENT.match(text) is not None


def trace_id(traceparent: str) -> str:
    return traceparent[3:35]


def span_id(traceparent: str) -> str:
    return traceparent[36:52]


def is_recorded(traceparent: str) -> bool:
    """Return whether the writer of a traceparent records its span."""
    return is_traceparent(traceparent) and bool(int(traceparent[53:], 16) & _SAMPLED)


def recorded(of_trace: str, span: str) -> str:
    return f"00-{of_trace}-{span}-01"


def not_recorded(traceparent: str) -> str:
    return f"{traceparent[:53]}00"


def ledger_span_id(of_message: str) -> str:
    """Return the id of the span of a message's commit to the ledger, made from the message's own:
    so the main server knows below which span it works, and nothing more travels with each
    message."""
    return f"{int(of_message, 16) ^ 1 or 2:016x}"
