"""A port that is taken: by whom, and what to do."""

import os
import socket

import pytest

from infra.dev.ports import HOST, Ports, free_base, free_port, holder, is_free
from infra.dev.steps import Failure


def test_ports_are_counted_from_the_base() -> None:
    ports = Ports.at(8000)
    assert (ports.main_server, ports.proxy, ports.pki) == (8000, 8001, 8002)
    assert ports.portal == 8080
    assert ports.ops() == {"main_server": 9000, "proxy": 9001, "portal": 9002, "worker": 9100}


def test_a_port_in_use_is_not_free() -> None:
    port = free_port()
    assert is_free(port)
    with socket.create_server((HOST, port)):
        assert not is_free(port)


def test_the_holder_is_named_with_its_process() -> None:
    with socket.create_server((HOST, 0)) as server:
        assert f"(process {os.getpid()})" in holder(server.getsockname()[1])


def test_nobody_holds_a_free_port() -> None:
    assert holder(free_port()) == "another program"


def test_a_taken_port_is_a_failure_that_says_what_to_do() -> None:
    base = free_base()
    with socket.create_server((HOST, base + 1)), pytest.raises(Failure) as failure:
        Ports.at(base).demand_free()
    text = str(failure.value)
    assert f"Port {base + 1} (proxy) is taken by" in text
    assert f"(process {os.getpid()})" in text
    assert "--port-base" in text
    assert "main server" not in text


def test_free_ports_are_no_failure() -> None:
    Ports.at(free_base()).demand_free()
