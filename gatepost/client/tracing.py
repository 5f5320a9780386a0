"""Tells the trace that a call belongs to: the program's own where it uses OpenTelemetry, or a new
one.

OpenTelemetry is never imported here: a program that hasn't got it doesn't need it.
"""

import sys

from gatepost.trace import fresh_traceparent


def current_traceparent() -> str:
    opentelemetry = sys.modules.get("opentelemetry.trace")
    if opentelemetry is None:
        return fresh_traceparent()
    span = opentelemetry.get_current_span().get_span_context()
    if not span.is_valid:
        return fresh_traceparent()
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags) & 1:02x}"
