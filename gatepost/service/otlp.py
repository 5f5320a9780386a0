"""Spans in OpenTelemetry's own form, and what a collector answers. Imported only where traces are
on: its packages are an extra (`gatepost[tracing]`)."""

from collections.abc import Mapping, Sequence

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Recorded

from gatepost import __version__
from gatepost.service.tracing import Span, Value

PATH = "/v1/traces"
MEDIA_TYPE = "application/x-protobuf"
_SAMPLED = 1


def encode_spans(spans: Sequence[Span], resource: Mapping[str, Value]) -> bytes:
    scope = InstrumentationScope(name="gatepost", version=__version__)
    of_scope = ScopeSpans(scope=scope, spans=[_recorded(span) for span in spans])
    whose = Resource(attributes=_attributes(resource))
    of_process = ResourceSpans(resource=whose, scope_spans=[of_scope])
    return ExportTraceServiceRequest(resource_spans=[of_process]).SerializeToString()


def rejected_spans(answer: bytes) -> int:
    """Return how many of the spans that it was sent the collector didn't want; 0 if that can't be
    read."""
    try:
        return int(ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans)
    except DecodeError:
        return 0


def _recorded(span: Span) -> Recorded:
    status = Status(code=Status.STATUS_CODE_ERROR, message=span.error) if span.error else None
    return Recorded(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        flags=_SAMPLED,
        name=span.name,
        kind=Recorded.SpanKind.ValueType(span.kind),
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        attributes=_attributes(span.attributes),
        status=status,
    )


def _attributes(values: Mapping[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=name, value=_any(value)) for name, value in values.items()]


def _any(value: Value) -> AnyValue:
    return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
