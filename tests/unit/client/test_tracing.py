"""Each call says to which trace it belongs, with OpenTelemetry and without."""

import subprocess
import sys

from opentelemetry import context
from opentelemetry import trace as opentelemetry
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from gatepost import trace
from gatepost.client.calls import whoami_call
from infra.dev.paths import ROOT

NUMBERS = (0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)


def test_without_a_span_each_call_is_a_trace_that_nobody_records_yet() -> None:
    first, second = (whoami_call().headers["traceparent"] for _ in range(2))
    assert trace.is_traceparent(first)
    assert not trace.is_recorded(first)
    assert trace.trace_id(first) != trace.trace_id(second)


def test_it_is_below_the_programs_own_span() -> None:
    for flags, end in ((TraceFlags.SAMPLED, "01"), (TraceFlags.DEFAULT, "00")):
        span = SpanContext(*NUMBERS, is_remote=False, trace_flags=TraceFlags(flags))
        token = context.attach(opentelemetry.set_span_in_context(NonRecordingSpan(span)))
        try:
            found = whoami_call().headers["traceparent"]
        finally:
            context.detach(token)
        assert found == f"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{end}"


def test_opentelemetry_is_not_needed() -> None:
    """The client imports nothing of it, installed or not."""
    code = "import gatepost.client, sys; print(any('opentelemetry' in m for m in sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
