"""Keys are exchanged on elliptic curves alone, however little of the TLS library can be reached."""

import ssl
import sys
from collections.abc import Callable

import pytest

from gatepost.errors import ConfigurationError
from gatepost.trust import key_exchange
from gatepost.trust.identity import Role
from gatepost.trust.key_exchange import check_curves, keep_to_curves
from gatepost.trust.tls import browser_context, check_shown, client_context, server_context
from main_server.ca.authority import Usage
from tests.factories import Pair, Pki, identity
from tests.hostile.hellos import (
    ALERT,
    FFDHE,
    HANDSHAKE,
    HANDSHAKE_FAILURE,
    P256,
    X25519,
    costly,
    cpu_of,
    hello,
)

P384 = 0x0018


@pytest.fixture(scope="module")
def server(pki: Pki) -> Pair:
    return pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.SERVER)


def ignored(_reason: str) -> None:
    pass


def listening(server: Pair) -> dict[str, ssl.SSLContext]:
    return {
        "mutual": server_context(server.files, ignored),
        "browsers": browser_context(server.files, ignored),
    }


def answer(context: ssl.SSLContext, words: bytes) -> tuple[int, bytes]:
    """The type of the first record that a server says to it, and what is in that."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    incoming.write(words)
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_side=True).do_handshake()
    said = outgoing.read()
    return said[0], said[5 : 5 + int.from_bytes(said[3:5], "big")]


@pytest.mark.parametrize("port", ["mutual", "browsers"])
@pytest.mark.parametrize("group", FFDHE)
@pytest.mark.parametrize("with_share", [True, False])
def test_finite_fields_are_refused_with_an_alert(
    server: Pair, port: str, group: int, with_share: bool
) -> None:
    words = hello([group], [group] if with_share else [])
    kind, said = answer(listening(server)[port], words)
    assert (kind, said) == (ALERT, bytes([2, HANDSHAKE_FAILURE]))


@pytest.mark.parametrize("port", ["mutual", "browsers"])
def test_who_offers_both_is_led_to_a_curve(server: Pair, port: str) -> None:
    """A share of a finite field is never worked on, though it is the only one that came."""
    context = listening(server)[port]
    kind, said = answer(context, hello([0x0104, X25519], [0x0104]))
    assert kind == HANDSHAKE
    assert said.endswith(b"\x00\x33\x00\x02" + X25519.to_bytes(2, "big")), "is asked for another"


@pytest.mark.parametrize("port", ["mutual", "browsers"])
@pytest.mark.parametrize("group", [X25519, P256])
def test_both_curves_are_spoken(server: Pair, port: str, group: int) -> None:
    kind, said = answer(listening(server)[port], hello([group], [group]))
    assert kind == HANDSHAKE
    assert b"\x00\x33" in said
    assert said[0] == 2, "a ServerHello"


def test_a_refused_hello_costs_less_than_a_good_one(server: Pair) -> None:
    """What a stranger can have for nothing is worth no more than what everybody does."""
    context = listening(server)["mutual"]
    assert cpu_of(context, costly()) < cpu_of(context, hello([X25519], [X25519]))


def test_callers_offer_no_finite_fields(pki: Pki) -> None:
    caller = pki.issue(identity(Role.PROXY, "gatepost", "proxy-1"))
    outgoing = ssl.MemoryBIO()
    side = client_context(caller.files, Role.MAIN).wrap_bio(ssl.MemoryBIO(), outgoing)
    with pytest.raises(ssl.SSLWantReadError):
        side.do_handshake()
    groups = offered(outgoing.read())
    assert {X25519, P256} <= set(groups)
    assert not set(groups) & {*FFDHE, P384}


def offered(words: bytes) -> list[int]:
    """The groups of a ClientHello: extension 10, whose length tells it from chance."""
    for start in range(len(words) - 6):
        kind, size, inner = (
            int.from_bytes(words[start + n : start + n + 2], "big") for n in (0, 2, 4)
        )
        if kind == 10 and size == inner + 2:
            data = words[start + 6 : start + 6 + inner]
            return [int.from_bytes(data[n : n + 2], "big") for n in range(0, inner, 2)]
    raise AssertionError("no groups")


def _no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the library is part of the interpreter itself."""
    monkeypatch.setitem(sys.modules, "_ssl", type(sys)("_ssl"))


def _no_ctypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)


def _another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "OPENSSL_VERSION", "OpenSSL 9.9.9")


def _no_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the library is within the module, its names hidden."""
    import _struct

    monkeypatch.setattr(sys.modules["_ssl"], "__file__", getattr(_struct, "__file__", "/nowhere"))


def _another_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.implementation, "name", "pypy")


@pytest.mark.parametrize(
    "without", [_no_module, _no_ctypes, _another_library, _no_symbols, _another_python]
)
def test_where_the_library_can_not_be_reached_p256_remains(
    monkeypatch: pytest.MonkeyPatch,
    server: Pair,
    without: Callable[[pytest.MonkeyPatch], None],
) -> None:
    without(monkeypatch)
    context = server_context(server.files, ignored)
    assert answer(context, hello([P256], [P256]))[0] == HANDSHAKE
    kind, said = answer(context, hello([X25519, P256], [X25519]))
    assert (kind, said[-2:]) == (HANDSHAKE, P256.to_bytes(2, "big")), "is asked once more"
    assert answer(context, hello([0x0104], [0x0104]))[0] == ALERT


def test_a_later_python_is_told_by_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Later(ssl.SSLContext):
        def set_groups(self, groups: str) -> None:
            told.append(groups)
            if "MLKEM" in groups:
                raise ssl.SSLError("unknown group")

    keep_to_curves(Later(ssl.PROTOCOL_TLS_SERVER))
    assert told == list(key_exchange.GROUPS)


def test_a_library_that_does_not_keep_to_it_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, server: Pair
) -> None:
    monkeypatch.setattr("gatepost.trust.tls.keep_to_curves", lambda _context: None)
    for make in (
        lambda: server_context(server.files, ignored),
        lambda: browser_context(server.files, ignored),
        lambda: check_shown(server.files),
    ):
        with pytest.raises(ConfigurationError, match="does not keep to elliptic curves"):
            make()


def test_a_context_that_takes_nothing_at_all_confirms_nothing() -> None:
    """Without a certificate every hello is refused, for a reason that isn't its groups."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    keep_to_curves(context)
    with pytest.raises(ConfigurationError):
        check_curves(context)
