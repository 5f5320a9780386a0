"""Where a browser is: what a header says of it is believed of our own proxies alone."""

from ipaddress import ip_network
from typing import Any

import pytest
from fastapi import Request
from pydantic import TypeAdapter, ValidationError

from portal.addresses import browser_of
from portal.settings import PortalSettings

PROXIES = (ip_network("10.0.0.7/32"), ip_network("2001:db8::/64"))
ELSEWHERE, BROWSER = "198.51.100.4", "203.0.113.9"


def asked(by: str, *headers: str) -> Request:
    told = [(b"x-forwarded-for", one.encode()) for one in headers]
    return Request({"type": "http", "headers": told, "client": (by, 1)})


@pytest.mark.parametrize("header", [BROWSER, f"{BROWSER}, 10.0.0.7", "", "x"])
def test_of_nobody_else(header: str) -> None:
    assert browser_of(asked(ELSEWHERE, header), PROXIES) == ELSEWHERE
    assert browser_of(asked("10.0.0.7", header), ()) == "10.0.0.7"


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ((BROWSER,), BROWSER),
        ((f"{ELSEWHERE}, {BROWSER}",), BROWSER),
        ((ELSEWHERE, BROWSER), BROWSER),
        ((f"{BROWSER}, 2001:db8::5",), BROWSER),
        ((f"{BROWSER},  10.0.0.7 ,2001:db8::5",), BROWSER),
        ((f"x, {BROWSER}",), BROWSER),
        ((), "10.0.0.7"),
        (("unknown",), "10.0.0.7"),
        ((f"{BROWSER}, unknown",), "10.0.0.7"),
        (("2001:db8::5",), "2001:db8::5"),
    ],
)
def test_the_last_that_is_none_of_ours(headers: tuple[str, ...], found: str) -> None:
    """What stands before it anybody may have written."""
    assert browser_of(asked("10.0.0.7", *headers), PROXIES) == found
    assert browser_of(asked("::ffff:10.0.0.7", *headers), PROXIES) in (found, "::ffff:10.0.0.7")


def test_nobody_may_be_everybody() -> None:
    kind: Any = PortalSettings.model_fields["trusted_proxies"].annotation
    assert TypeAdapter(kind).validate_python(["10.0.0.0/28", "::1"])
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(["everybody"])
    for everybody in ("0.0.0.0/0", "::/0"):
        given: dict[str, Any] = {
            "tls": None,
            "main_server": None,
            "trusted_proxies": (ip_network(everybody),),
        }
        (fault,) = PortalSettings.model_construct(**given).faults()
        assert fault.startswith("trusted_proxies")
