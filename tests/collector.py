"""A stand-in for an OpenTelemetry collector: takes OTLP over HTTP, and keeps what it was sent."""

import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A span as a collector reads it; `service` is who sent it."""

    service: str
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    attributes: dict[str, str | int]
    error: str


class Collector:
    """`status` is what it answers with, `reject` how many of each post it says it didn't want."""

    def __init__(self, port: int = 0, context: ssl.SSLContext | None = None) -> None:
        self.status, self.reject = 200, 0
        self.bodies: list[bytes] = []
        self.spans: list[Seen] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._answers())
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        scheme = "https" if context else "http"
        self.endpoint = f"{scheme}://localhost:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def of(self, trace_id: str) -> list[Seen]:
        return [span for span in list(self.spans) if span.trace_id == trace_id]

    def take(self, body: bytes) -> None:
        self.bodies.append(body)
        for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = _values(of_process.resource.attributes)
            for of_scope in of_process.scope_spans:
                self.spans += [_seen(str(resource["service.name"]), one) for one in of_scope.spans]

    def _answers(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"  # a kept connection would outlive this collector

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                right = self.headers["content-type"] == "application/x-protobuf"
                status = collector.status if right and self.path == "/v1/traces" else 400
                answer = ExportTraceServiceResponse()
                if status == 200:
                    collector.take(body)
                    answer.partial_success.rejected_spans = collector.reject
                told = answer.SerializeToString()
                self.send_response(status)
                self.send_header("content-length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: Any) -> None:
                pass

        return Answers

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _seen(service: str, span: Any) -> Seen:
    return Seen(
        service,
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        _values(span.attributes),
        span.status.message,
    )


def _values(attributes: Any) -> dict[str, str | int]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
