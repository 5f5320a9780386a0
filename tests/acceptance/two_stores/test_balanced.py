"""Two proxies and two main servers behind haproxy, with infra/haproxy.cfg itself: one of each is
killed and one is stopped, while posts come in. None is lost, none is doubled, and no sender is told
anything but to come again (I1, I2)."""

import ssl
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import httpx
import pytest

from gatepost.client import Client, GatepostError
from infra.dev.engines import Engines
from infra.dev.haproxy import find_haproxy
from infra.dev.ports import HOST, free_port
from infra.dev.private import write_private
from tests.acceptance.two_stores.rig import Rig
from tests.balancer import Balancer
from tests.heard import wait_until

PAIRS = {"proxy": ("proxy-1", "proxy-2"), "main_server": ("main_server-1", "main_server-2")}


class Balanced(Rig):
    """Its services reach the main servers by way of the balancer alone."""

    balancer: Balancer

    def double(self) -> None:
        """Two of each, on ports of their own; and the balancer before them."""
        for name, both in PAIRS.items():
            for one in both:
                write_private(
                    self.place.config / f"{one}.yaml",
                    (self.place.config / f"{name}.yaml").read_text(),
                )
                for section in ("server", "ops", *(["pki"] if name == "main_server" else [])):
                    self.configure(one, section, port=free_port())
        servers = {
            "10.0.0.31:8080": (self.port_of("portal", "server"), self.ops_port("portal")),
            "10.0.0.32:8080": (free_port(), free_port()),  # there is one alone
        }
        for n in (1, 2):
            proxy, main = f"proxy-{n}", f"main_server-{n}"
            operators = self.ops_port(main)
            servers[f"10.0.0.1{n}:8001"] = (self.port_of(proxy, "server"), self.ops_port(proxy))
            servers[f"10.0.0.2{n}:8000"] = (self.port_of(main, "server"), operators)
            servers[f"10.0.0.2{n}:8002"] = (self.port_of(main, "pki"), operators)
        self.balancer = Balancer(find_haproxy(), self.place, servers)
        url = f"https://{HOST}:{self.balancer.ports['main-servers']}"
        for name in ("worker", "portal", *PAIRS["proxy"]):
            self.configure(name, "main_server", url=url)

    def port_of(self, name: str, section: str) -> int:
        return int(self.setting(name, section, "port"))


@pytest.fixture(scope="module")
def balanced(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    with Balanced(engines, tmp_path_factory.mktemp("balanced") / "var") as rig:
        rig.double()
        with rig.balancer:
            rig.start(*PAIRS["main_server"], *PAIRS["proxy"], "worker")
            rig.balancer.wait("proxies", proxy_1="UP", proxy_2="UP")
            rig.balancer.wait("main-servers", main_1="UP", main_2="UP")
            yield rig


class Flow:
    """Partners that send by the library, one message after the other."""

    def __init__(self, rig: Balanced, senders: int = 4) -> None:
        self._url = f"https://{HOST}:{rig.balancer.ports['proxies']}"
        self._pki = rig.place.pki
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(senders)]
        self.receipts: list[str] = []
        self.failures: list[str] = []

    def _send(self) -> None:
        ca, cert, key = (self._pki / one for one in ("ca.pem", "client_001.pem", "client_001.key"))
        with Client(self._url, ca=ca, cert=cert, key=key, retry_for=60, renew=False) as client:
            while not self._stop.is_set():
                try:
                    receipt = client.send("+49151123456", "hello")
                    self.receipts.append(str(receipt.message_id))
                except GatepostError as error:
                    self.failures.append(repr(error))

    def goes_on(self, more: int = 40) -> None:
        """Until so many more have been accepted."""
        number = len(self.receipts)
        wait_until(lambda: len(self.receipts) >= number + more, 30)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(90)


def test_haproxy_has_nothing_to_say_against_the_file(balanced: Balanced) -> None:
    said = balanced.balancer.check()
    assert said.startswith("0: ")
    assert "WARNING" not in said
    assert "ALERT" not in said


def test_one_of_each_is_killed_and_one_is_stopped_and_no_post_is_lost(balanced: Balanced) -> None:
    firsts, seconds = zip(*PAIRS.values(), strict=True)
    with Flow(balanced) as flow:
        flow.goes_on()
        for name in firsts:
            balanced.kill(name)
            flow.goes_on()
        balanced.balancer.wait("proxies", proxy_1="DOWN", proxy_2="UP")
        balanced.balancer.wait("main-servers", main_1="DOWN", main_2="UP")
        flow.goes_on()
        balanced.start(*firsts)
        balanced.balancer.wait("proxies", proxy_1="UP", proxy_2="UP")
        balanced.balancer.wait("main-servers", main_1="UP", main_2="UP")
        for name in seconds:
            balanced.stop(name)
            flow.goes_on()
        balanced.balancer.wait("proxies", proxy_1="UP", proxy_2="DOWN")
        balanced.balancer.wait("main-servers", main_1="UP", main_2="DOWN")
        flow.goes_on()
    balanced.start(*seconds)
    assert flow.failures == []
    assert len(set(flow.receipts)) == len(flow.receipts)
    balanced.wait_delivered(flow.receipts, 60)
    assert balanced.delivered_twice(flow.receipts) == []
    others = balanced.sql("SELECT message_id FROM messages WHERE status <> 'duplicate'")
    assert len(others) == len(flow.receipts), "and no other was made of a repeat"


def test_the_pki_port_is_told_whose_a_request_is(balanced: Balanced) -> None:
    """Of two main servers each is asked; what a caller says of himself is thrown away."""
    url = f"http://{HOST}:{balanced.balancer.ports['pki']}"
    with httpx.Client(base_url=url, trust_env=False) as client:
        told = [client.get("/ca.pem", headers={"x-forwarded-for": "::1"}) for _ in range(4)]
    assert {one.status_code for one in told} == {200}
    assert {one.content for one in told} == {(balanced.place.pki / "ca.pem").read_bytes()}


def test_people_reach_a_portal_by_tls_of_the_newest_version_alone(balanced: Balanced) -> None:
    balanced.start("portal")
    balanced.balancer.wait("portals", portal_1="UP", portal_2="DOWN")
    context = ssl.create_default_context(cafile=str(balanced.place.pki / "ca.pem"))
    url = f"https://{HOST}:{balanced.balancer.ports['portals']}"
    with httpx.Client(base_url=url, verify=context, trust_env=False) as client:
        page = client.get("/login")
    assert (page.status_code, "password" in page.text) == (200, True)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    old = httpx.Client(base_url=url, verify=context, trust_env=False)
    with old, pytest.raises(httpx.ConnectError):
        old.get("/login")
