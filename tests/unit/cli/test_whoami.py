"""`gatepost whoami`, for people and for scripts."""

from tests.unit.cli.conftest import Command
from tests.unit.client.gateway import WHOAMI, Gateway


def test_for_people(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(WHOAMI)
    ran = gatepost("whoami")
    assert ran.code == 0
    assert ran.out.startswith("client_001 of example.com, as client\n")
    assert "2027-11-01 00:00:00.000 UTC" in ran.out
    assert "100 requests a second, 200 at once" in ran.out


def test_for_scripts_it_is_what_the_gateway_said(gatepost: Command, gateway: Gateway) -> None:
    gateway.script(WHOAMI)
    assert gatepost("whoami", "--json").results == [WHOAMI.document]
