"""Spans on their way to a collector: nobody waits for it, nothing grows without end, and what is
not exported is counted."""

import asyncio
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest
from prometheus_client import REGISTRY

from gatepost.config.collector import SampledTracing, Tracing
from gatepost.errors import ConfigurationError
from gatepost.service import exporting as module
from gatepost.service.exporting import exporting
from gatepost.service.tracing import Kind, Sampling, Span, Tracer
from gatepost.trace import fresh_traceparent, recorded
from infra.dev.ports import free_port
from tests.collector import Collector
from tests.heard import HeardLog, until

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLER = recorded(TRACE, SPAN)
_numbers = count()


class Exported:
    def __init__(self, tracer: Tracer, log: HeardLog, service: str) -> None:
        self.tracer, self.log = tracer, log
        self._service = service

    def span(self) -> None:
        _, span = self.tracer.receive(CALLER)
        assert span is not None
        span.end()

    def counted(self, outcome: str) -> float:
        name = f"gatepost_{self._service}_spans_total"
        return REGISTRY.get_sample_value(name, {"outcome": outcome}) or 0


@asynccontextmanager
async def exported(endpoint: str, **settings: Any) -> AsyncIterator[Exported]:
    service, log = f"traced{next(_numbers)}", HeardLog()
    async with exporting(service, SampledTracing(endpoint=endpoint, **settings), log) as tracer:
        assert tracer is not None
        yield Exported(tracer, log, service)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.01)


async def test_off_there_is_no_tracer() -> None:
    async with exporting("none", Tracing(), HeardLog()) as tracer:
        assert tracer is None


async def test_a_span_arrives_as_it_was() -> None:
    with Collector() as collector:
        async with exported(collector.endpoint) as one:
            _, span = one.tracer.receive(CALLER)
            assert span is not None
            with suppress(ValueError), span.child("inner", Kind.INTERNAL, text="a", number=7):
                raise ValueError("bad")
            span.end_request("POST", "/route", 503)
            await until(lambda: len(collector.spans) == 2)
    below, top = collector.spans
    assert (top.name, top.trace_id, top.parent_id) == ("POST /route", TRACE, SPAN)
    assert (top.attributes["http.response.status_code"], top.error) == (503, "status 503")
    assert (below.name, below.parent_id, below.error) == ("inner", top.span_id, "ValueError")
    assert below.attributes == {"text": "a", "number": 7}
    assert top.start <= below.start <= below.end <= top.end
    assert top.service.startswith("gatepost-traced")


async def test_what_waits_at_the_end_is_sent() -> None:
    with Collector() as collector:
        async with exported(collector.endpoint) as one:
            for _ in range(600):
                one.span()
        assert len(collector.spans) == 600
        assert one.counted("sent") == 600


async def test_a_full_line_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 10)
    async with exported(f"http://127.0.0.1:{free_port()}") as one:
        for _ in range(25):
            one.span()
        assert one.counted("dropped") == 15
        await until(lambda: "traces.waiting" in one.log.events())
    assert one.counted("dropped") == 25, "and what could not be sent at the end"
    assert one.log.events() == ["traces.waiting"], "once"


@pytest.mark.parametrize("status", [429, 503])
async def test_who_asks_to_be_called_later_is(status: int) -> None:
    with Collector() as collector:
        collector.status = status
        async with exported(collector.endpoint) as one:
            one.span()
            await until(lambda: "traces.waiting" in one.log.events())
            collector.status = 200
            await until(lambda: len(collector.spans) == 1)
            await until(lambda: one.counted("sent") == 1)
        assert one.log.events() == ["traces.waiting", "traces.exported"]


async def test_what_is_refused_is_not_sent_again() -> None:
    with Collector() as collector:
        collector.status = 413
        async with exported(collector.endpoint) as one:
            one.span()
            await until(lambda: one.counted("refused") == 1)
            collector.status, collector.reject = 200, 1
            one.span()
            await until(lambda: one.counted("refused") == 2)
            collector.reject = -1  # what no collector should say
            one.span()
            await until(lambda: one.counted("sent") == 1)
        assert len(collector.bodies) == 2


async def test_files_that_went_after_the_start_end_no_service(tmp_path: Path) -> None:
    """As a child finds them that takes another's place."""
    roots = tmp_path / "roots.pem"
    with Collector() as collector:
        async with exported(collector.endpoint, ca_file=roots) as one:
            one.span()
            await until(lambda: "traces.waiting" in one.log.events())
            shutil.copy(certifi.where(), roots)
            await until(lambda: len(collector.spans) == 1)
        assert one.log.events() == ["traces.waiting", "traces.exported"]


@pytest.mark.parametrize("unforeseen", [RuntimeError, OSError, ValueError, TimeoutError])
async def test_whatever_the_client_raises_it_goes_on(
    unforeseen: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector() as collector:
        async with exported(collector.endpoint) as one:
            with monkeypatch.context() as broken:

                async def fail(*_: object, **__: object) -> None:
                    raise unforeseen("unforeseen")

                broken.setattr(httpx.AsyncClient, "post", fail)
                one.span()
                await until(lambda: "traces.waiting" in one.log.events())
            await until(lambda: len(collector.spans) == 1)


async def test_what_can_not_be_encoded_is_not_in_the_way() -> None:
    with Collector() as collector:
        async with exported(collector.endpoint) as one:
            _, bad = one.tracer.receive(CALLER)
            assert bad is not None
            bad.attributes["number"] = 2**70
            bad.end()
            await until(lambda: one.counted("dropped") == 1)
            one.span()
            await until(lambda: len(collector.spans) == 1)
        assert one.log.events() == ["traces.dropped"]


async def test_a_collector_that_hangs_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAST_CALL_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(10)
        async with asyncio.timeout(5):
            async with exported(f"http://127.0.0.1:{silent.getsockname()[1]}") as one:
                one.span()
                taken, _ = await asyncio.to_thread(silent.accept)
                one.span()
        taken.close()
    assert one.counted("dropped") == 2


def test_the_client_decides_then_the_ratio_by_the_traces_id() -> None:
    followed, own = Sampling(0.0, True), Sampling(0.0, False)
    assert followed.records(CALLER)
    assert not own.records(CALLER)
    assert not followed.records(CALLER[:-2] + "00")
    half = Sampling(0.5, True)
    found = sum(half.records(fresh_traceparent()) for _ in range(4000))
    assert 1800 < found < 2200
    assert Sampling(1.0, True).records(fresh_traceparent())


def test_who_records_nothing_is_no_part_of_the_trace() -> None:
    kept: list[Span] = []
    tracer = Tracer(kept.append, Sampling(1.0, True))
    place, span = tracer.receive(CALLER[:-2] + "00")
    assert span is not None
    assert (span.trace_id, span.parent_id) == (TRACE, "")
    assert place == span.traceparent
    place, span = Tracer(kept.append, Sampling(0.0, False)).receive(CALLER)
    assert (place, span) == (CALLER[:-2] + "00", None), "nobody below records it either"


def test_a_wall_clock_that_is_set_back_makes_no_span_of_less_than_nothing() -> None:
    kept: list[Span] = []
    _, span = Tracer(kept.append, Sampling(1.0, True)).receive(CALLER)
    assert span is not None
    span.end(at_ns=1)
    assert kept[0].end_ns == kept[0].start_ns


def test_settings_that_can_not_be() -> None:
    for wrong in (
        "collector:4318",
        "grpc://collector",
        "https://collector/v1/traces",
        "https://collector:4318x",
        "https://some@collector",
    ):
        with pytest.raises(ValueError, match="endpoint"):
            Tracing(endpoint=wrong)
    with pytest.raises(ValueError, match="go together"):
        Tracing(endpoint="https://collector", cert_file=Path("c.pem"))
    with pytest.raises(ConfigurationError, match=r"no-such.pem"):
        Tracing(endpoint="https://collector", ca_file=Path("/no-such.pem")).check()


def test_in_production_spans_leave_the_machine_by_tls_alone() -> None:
    assert Tracing(endpoint="http://127.0.0.1:4318").faults() == []
    assert Tracing(endpoint="https://collector").faults() == []
    (fault,) = Tracing(endpoint="http://collector:4318").faults()
    assert "https" in fault


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepost.config.collector.find_spec", lambda _name: None)
    Tracing().check()
    with pytest.raises(ConfigurationError, match=r"gatepost\[server,tracing\]"):
        Tracing(endpoint="https://collector").check()


def test_tls_is_of_the_newest_version_alone() -> None:
    assert Tracing(endpoint="https://c").context().minimum_version is ssl.TLSVersion.TLSv1_3
